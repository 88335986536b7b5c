/** Processes of a machine share letters and jobs, and some of the processes are killed. */
import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ownerLives } from '../../src/host/process/ownership/owner-marker.js';
import { systemClock } from '../../src/protocol/clock.js';
import { FileJobQueue } from '../../src/store/files/jobs/file-job-queue.js';
import { FileMailbox } from '../../src/store/files/mailbox/file-mailbox.js';
import { bundled, numbers, startWorker, type Worker } from './child-program.js';
import { job } from './contracts/job-queue.js';
import { nextOf, testSharedMailbox } from './contracts/shared-mailbox.js';
import { temporaryFolder } from './session-folder.js';

describe('processes that share jobs', () => {
  const readIds = async (worker: Worker) => JSON.parse(await worker.answer()) as string[];

  test('claim different jobs, and the jobs of a process only after its death', async () => {
    const root = temporaryFolder();
    fs.mkdirSync(join(root, 's_1'));
    const queue = new FileJobQueue(root, ownerLives);
    const ids = numbers(40).map((age) => `a_${age}`);
    for (const [index, id] of ids.entries()) await queue.add(job(id, index + 1));
    const program = await bundled('take-jobs');
    const [holder, ...workers] = ['h', 'w1', 'w2', 'w3'].map((name) =>
      startWorker(program, root, name),
    ) as [Worker, ...Worker[]];
    const marker = await holder.answer();
    await Promise.all(workers.map((worker) => worker.answer()));

    holder.tell('hold');
    expect(await readIds(holder)).toEqual(['a_1', 'a_2', 'a_3']);
    for (const worker of workers) worker.tell('drain');
    const taken = (await Promise.all(workers.map(readIds))).flat();
    expect(taken.sort()).toEqual(ids.slice(3).sort());
    expect((await queue.list('s_1')).map(({ worker }) => worker)).toEqual([marker, marker, marker]);

    await holder.kill();
    for (const worker of workers) worker.tell('drain');
    const takenOver = (await Promise.all(workers.map(readIds))).flat();
    expect(takenOver.sort()).toEqual(['a_1', 'a_2', 'a_3']);
    expect(await queue.list('s_1')).toEqual([]);
  });
});

describe('processes that share a mailbox', () => {
  const mailOf = async () => {
    const folder = temporaryFolder();
    const box = new FileMailbox(folder, systemClock);
    onTestFinished(() => box.close());
    const program = await bundled('exchange-letters');
    const start = async () => {
      const worker = startWorker(program, folder);
      await worker.answer();
      return worker;
    };
    return { box, start };
  };

  test('deliver each letter once, in the order of its sender', async () => {
    const { box, start } = await mailOf();
    const inbox = await box.open('bob');
    const senders = await Promise.all(['x', 'y', 'z'].map(start));
    for (const [index, sender] of senders.entries()) {
      sender.tell(`send ${['x', 'y', 'z'][index]} 15`);
    }
    const received: string[] = [];
    while (received.length < 45) received.push(await nextOf(inbox));
    for (const from of ['x', 'y', 'z']) {
      const ofSender = received.filter((id) => id.startsWith(from));
      expect(ofSender).toEqual(numbers(15).map((number) => `${from}_${number}`));
    }
  });

  testSharedMailbox(mailOf);
});
