// work.cc - C++: std::thread, virtual calls, templates, strings; the names are demangled by uftrace.
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "truth.h"

namespace shapes {

struct shape {
	virtual ~shape() {}
	virtual long area() const = 0;
};

struct square : shape {
	long side;
	explicit square(long s) : side(s) {}
	long area() const override;
};

struct strip : shape {
	long len;
	explicit strip(long l) : len(l) {}
	long area() const override;
};

}

extern "C" {
__attribute__((noinline, noclone)) long square_area(long s) { ENTER(); return s * s; }
__attribute__((noinline, noclone)) long strip_area(long s) { ENTER(); return s * 2; }
}

long shapes::square::area() const { return square_area(side); }
long shapes::strip::area() const { return strip_area(len); }

extern "C" __attribute__((noinline, noclone)) long sum_areas(const std::vector<std::unique_ptr<shapes::shape>> &all)
{
	long sum = 0;

	ENTER();
	for (const auto &s : all)
		sum += s->area();
	return sum;
}

int main()
{
	std::vector<std::unique_ptr<shapes::shape>> all;
	std::vector<std::thread> threads;
	std::map<std::string, long> sums;
	long result[4];

	ENTER();
	for (int i = 0; i < 50; i++) {
		if (i & 1)
			all.push_back(std::make_unique<shapes::square>(i));
		else
			all.push_back(std::make_unique<shapes::strip>(i));
	}
	for (int t = 0; t < 4; t++)
		threads.emplace_back([&all, &result, t] {
			result[t] = 0;
			for (int i = 0; i < 10; i++)
				result[t] += sum_areas(all);
		});
	for (auto &t : threads)
		t.join();
	for (int t = 0; t < 4; t++)
		sums["thread " + std::to_string(t)] = result[t];
	for (const auto &s : sums)
		printf("%s %ld\n", s.first.c_str(), s.second);
	truth_print();
	return 0;
}
