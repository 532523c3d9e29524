// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A device that is read no faster than permitted, with a clock of its own.
 */
#include "dev/paced.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "tests/testdev/memory.h"
#include "tap.h"

#define SIZE (1u << 20)
#define SPEED 1000000u

static uint64_t now = 5000, waited, longest;

static uint64_t read_clock(void)
{
	return now;
}

static void wait_ms(uint64_t ms)
{
	now += ms;
	waited += ms;
	longest = ms > longest ? ms : longest;
}

int main(void)
{
	static const struct paced_clock clock = { read_clock, wait_ms };
	static unsigned char bytes[SIZE], buf[SIZE];
	volatile sig_atomic_t cancel = 0;
	struct dev *disk, *dev;
	struct context cx;
	unsigned int i;
	int err = 0;

	context_init(&cx);
	cx.cancel = &cancel;
	for (i = 0; i < SIZE; i++)
		bytes[i] = (unsigned char)(i * 31 >> 3);
	memory_open(&disk, &cx, bytes, SIZE);
	ok(!paced_open(&dev, &cx, disk, SPEED, &clock), "opened");
	for (i = 0; i < 100; i++)
		err |= dev_read(dev, &cx, i * 5000, buf + i * 5000, 5000);
	ok(!err && !memcmp(buf, bytes, 500000), "what is read is that of the device");
	/* The last 5000 bytes are not waited for. */
	ok(waited == 495, "500,000 bytes take half a second");
	now += 10000;
	waited = 0;
	err = dev_read(dev, &cx, 0, buf, SIZE);
	ok(!err && !waited, "the first read after a pause does not wait");
	err = dev_read(dev, &cx, 0, buf, 1);
	ok(!err && waited == 1048, "nothing is made up for");
	ok(longest <= 250, "a wait can be interrupted");
	now += 10000;
	err = dev_read(dev, &cx, 0, buf, SIZE);
	cancel = 1;
	ok(!err && dev_read(dev, &cx, 0, buf, 1) == -EINTR, "cancelled in a wait");
	dev_close(dev);
	dev_close(disk);
	return tap_done();
}
