import { describe, expect, test } from 'vitest';
import type { ValidCall } from '../../../src/actors/permissions/judge-call.js';
import { replacedFile } from '../../../src/actors/permissions/replaced-file.js';
import type { Ruling } from '../../../src/protocol/permission/ruling.js';
import { writeFile } from '../../../src/tools/files/write-file.js';
import { calls, says, scriptedModel } from '../../fakes/agents/scripted-model.js';
import { allows, scriptedSurface } from '../../fakes/agents/scripted-surface.js';
import { memoryWorkspace } from '../../fakes/memory-workspace.js';
import { settled } from '../../fakes/virtual-clock.js';
import { leadHarness } from '../session/lead-harness.js';

const call = (target: string, name = 'Write') =>
  ({
    tool: { name },
    request: { tool: name, subject: { action: 'write', target }, readOnly: false, cwd: '/w' },
  }) as ValidCall;

const SECRET = `key = sk-ant-${'a1'.repeat(12)}\n`;
const disk = memoryWorkspace({
  '/w/text': 'one\ntwo\n',
  '/w/empty': '',
  '/w/picture': new Uint8Array([0, 1, 2]),
  '/w/long': 'line\n'.repeat(20_000),
  '/w/huge': 'x'.repeat(3_000_000),
  '/w/key': SECRET,
});

const replacedBy = (asked: ValidCall, behavior: Ruling['behavior'] = 'allow') =>
  replacedFile(asked, disk, { rule: () => ({ behavior }) as Ruling });

describe('replacedFile', () => {
  test.each([
    ['text', { bytes: 8, lines: 2, text: 'one\ntwo\n' }],
    ['empty', { bytes: 0, lines: 0, text: '' }],
    ['picture', { bytes: 3 }],
    ['long', { bytes: 100_000, lines: 20_000 }],
    ['huge', { bytes: 3_000_000 }],
    ['key', { bytes: SECRET.length, lines: 1 }],
    ['', undefined],
    ['missing', undefined],
    ['no\0path', undefined],
  ])('returns for %j: %j', async (path, replaced) => {
    expect(await replacedBy(call(path))).toEqual(replaced);
  });

  test.each(['ask', 'deny'] as const)(
    'omits the text if the ruling for reading the file is %s',
    async (behavior) => {
      expect(await replacedBy(call('text'), behavior)).toEqual({ bytes: 8, lines: 2 });
    },
  );

  test('returns undefined for tools that describe their change', async () => {
    expect(await replacedBy(call('text', 'Edit'))).toBeUndefined();
  });

  test('adds the content to the question but not to its input digest', async () => {
    const surface = scriptedSurface(allows, allows);
    const input = { file_path: 'a', content: 'one\n' };
    const model = scriptedModel(
      [calls('c1', 'Write', input)],
      [calls('c2', 'Write', input)],
      [says('Done.')],
    );
    const harness = await leadHarness({ model, mode: 'default', surface, tools: [writeFile] });
    await harness.say('Go');
    await settled();
    const [first, second] = surface.questions;
    expect(first).not.toHaveProperty('replaces');
    expect(second?.replaces).toEqual({ bytes: 4, lines: 1, text: 'one\n' });
    expect(second?.inputDigest).toBe(first?.inputDigest);
    expect(harness.results().c2).toContain('Replaced');
  });
});
