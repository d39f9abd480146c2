/*
 * sitecost.h - what a probe adds to a call, by the site it is at.
 */
#ifndef SITECOST_H
#define SITECOST_H

#include <stdbool.h>
#include <stdint.h>

/*
 * ns of a call at a site of @class (enum site_class), whose return is probed too (@at_return) or not, with a program that does
 * nothing: the least that was measured on one virtual machine (Linux 6.18, x86-64). The ratios carry to others, except
 * for the single-stepped, which are dearest where each step leaves the machine. 0: not measured, as on arm64.
 */
unsigned site_cost(uint8_t class, bool at_return);

#endif
