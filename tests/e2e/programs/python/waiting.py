# SPDX-License-Identifier: GPL-2.0-or-later
"""Threads that wait: for the interpreter lock (GIL) while others run, for a lock, and for a time."""
import threading
import time


def busy():
    while not done:
        pass


def sleeps():
    for _ in range(5):
        time.sleep(0.01)


def waits_for_lock():
    reached.append(True)
    with lock:
        pass


done, reached, lock = [], [], threading.Lock()
lock.acquire()
running = [threading.Thread(target=busy) for _ in range(2)]
waiting = [threading.Thread(target=sleeps), threading.Thread(target=waits_for_lock)]
for thread in running + waiting:
    thread.start()
while not reached:
    time.sleep(0.01)
# They take turns by the time that passes; on a busy machine little of that may be theirs.
used = time.process_time()
while time.process_time() < used + 0.15:
    time.sleep(0.01)
done.append(True)
for thread in running:
    thread.join()
# Nobody else runs: it waits for the lock by now, and for nothing else.
time.sleep(0.05)
lock.release()
for thread in waiting:
    thread.join()
