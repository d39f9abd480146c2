/* C++ names as uftrace 0.13 shows them. */
#include "base.h"
#include "demangle.h"
#include "test.h"

static const char *plain(const char *mangled)
{
	static char name[64];

	return demangle_simple(mangled, name, sizeof(name)) ? name : "none";
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

TEST(what_is_no_such_name_is_none)
{
	CHECK_STR(plain("main"), "none");
	CHECK_STR(plain("_Z"), "none");
	CHECK_STR(plain("_ZN"), "none");
	CHECK_STR(plain("_Z9short"), "none");
	CHECK_STR(plain("_ZN2ns1BIL"), "none");
	CHECK_STR(plain("_Z99999999999999999999x"), "none");
	CHECK_STR(plain("_ZZ4mainENKUliE_clEi"), "none");
	CHECK_STR(plain("_ZN40aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa40bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbEv"), "none");
}
