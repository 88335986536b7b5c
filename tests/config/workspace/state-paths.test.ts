import fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { realPathWithState } from '../../../src/config/workspace/state-paths.js';
import { temporaryFolder } from '../temporary-folder.js';

test('a link that is redirected between two rulings of a turn is followed to its new target', async () => {
  const folder = temporaryFolder().path;
  const [one, two, link] = ['one', 'two', 'link'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [one, two]) fs.mkdirSync(path);
  fs.symlinkSync(one, link);
  const realPath = realPathWithState(join(folder, 'state'));
  expect(realPath(join(link, 'new'))).toBe(join(one, 'new'));
  fs.rmSync(link);
  fs.symlinkSync(two, link);
  // The event loop does not turn here.
  await Promise.resolve();
  expect(realPath(join(link, 'new'))).toBe(join(two, 'new'));
});

test('a dangling link is followed to the name that a write would create', () => {
  const folder = temporaryFolder().path;
  fs.symlinkSync(join(folder, 'target'), join(folder, 'link'));
  const realPath = realPathWithState(join(folder, 'state'));
  expect(realPath(join(folder, 'link'))).toBe(join(folder, 'target'));
  expect(realPath(join(folder, 'absent'))).toBe(join(folder, 'absent'));
});
