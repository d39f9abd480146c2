/* C++ and Rust names, as uftrace 0.13 shows those it knows. */
#include "base.h"
#include "image/reader.h"
#include "test.h"

static const char *plain(const char *mangled)
{
	static char name[64];

	return name_plain(mangled, name, sizeof(name)) ? name : "none";
}

TEST(names_lose_their_arguments)
{
	CHECK_STR(plain("_Z10throw_fromi"), "throw_from");
	CHECK_STR(plain("_ZL5plaini"), "plain");
	CHECK_STR(plain("_ZN12_GLOBAL__N_14anonEi"), "_GLOBAL__N_1::anon");
	CHECK_STR(plain("_ZNK2ns1A3getEi"), "ns::A::get");
	CHECK_STR(plain("_ZN2ns1AC2Ei"), "ns::A::A");
	CHECK_STR(plain("_ZN2ns1AD1Ev"), "ns::A::~A");
	CHECK_STR(plain("_ZN2nsplERKNS_1AEi"), "ns::operator+");
	CHECK_STR(plain("_ZSt8distanceIPKcENSt15iterator_traitsIT_E15difference_typeES3_S3_"), "std::distance");
}

TEST(names_lose_their_template_arguments)
{
	CHECK_STR(plain("_ZN2ns1A4tmplIlEET_S2_"), "ns::A::tmpl");
	CHECK_STR(plain("_ZN2ns1BINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEELi5EE3runERKS6_"), "ns::B::run");
	CHECK_STR(plain("_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC1IS3_EEPKcRKS3_"),
		  "std::__cxx11::basic_string::basic_string");
}

TEST(operators_keep_their_signs)
{
	CHECK_STR(plain("_ZN2ns1BISt6vectorIiSaIiEEEclEi"), "ns::B::operator()");
	CHECK_STR(plain("_ZN2ns1BISt6vectorIiSaIiEEEltERS4_"), "ns::B::operator<");
	CHECK_STR(plain("_ZN2ns1BISt6vectorIiSaIiEEEptEv"), "ns::B::operator->");
	CHECK_STR(plain("_ZN2nsrsIiEEvRNS_1BIT_EES2_"), "ns::operator>>");
	CHECK_STR(plain("_ZN2ns1BISt6vectorIiSaIiEEEcviEv"), "ns::B::operator(cast)");
	CHECK_STR(plain("_Znwm"), "operator new");
	CHECK_STR(plain("_ZdaPv"), "operator delete[]");
}

TEST(names_that_are_more_than_a_path)
{
	CHECK_STR(plain("_ZZ4mainENKUliE_clEi"), "main::$_0::operator()");
	CHECK_STR(plain("_ZZN1aIcE12_M_constructIPKcEEvT_S8_EN6_GuardC1EPS4_"), "none");
	CHECK_STR(plain("_ZTv0_n24_NSiD0Ev"), "std::basic_istream::~basic_istream");
	CHECK_STR(plain("_ZNSolsEj"), "std::basic_ostream::operator<<");
	CHECK_STR(plain("_Z6taggedB5cxx11B1xv"), "tagged");
	CHECK_STR(plain("_ZN3foo3barEv.isra.0"), "foo::bar");
}

TEST(rust_names_old_and_new)
{
	CHECK_STR(plain("_RNvCsfq2Zq5gqAK1_2v04main"), "v0::main");
	CHECK_STR(plain("_RINvNtCsfq2Zq5gqAK1_2v01m3genmEB4_"), "v0::m::gen");
	CHECK_STR(plain("_RNCNvCsfq2Zq5gqAK1_2v04main0B3_"), "v0::main::{closure#0}");
	CHECK_STR(plain("_RNvXNtCsfq2Zq5gqAK1_2v01mINtB2_1SmENtB2_2Tr2go"), "<v0::m::S<u32> as v0::m::Tr>::go");
	CHECK_STR(plain("_ZN5rusty4main17hbfd82906c6f1c739E"), "rusty::main");
	CHECK_STR(plain("_RNvC"), "none");
}

TEST(what_is_no_such_name_is_none)
{
	CHECK_STR(plain("main"), "none");
	CHECK_STR(plain("_Z"), "none");
	CHECK_STR(plain("_ZN"), "none");
	CHECK_STR(plain("_Z9short"), "none");
	CHECK_STR(plain("_ZN2ns1BIL"), "none");
	CHECK_STR(plain("_Z99999999999999999999x"), "none");
	CHECK_STR(plain("_ZN40aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa40bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbEv"),
		  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa::bbbbbbbbbbbbbbbbbbbbb");	/* cut */
}
