/** Letters, answers of a model and results of calls, as pieces of a transcript. Blocks may be anything. */

import type { RawJson } from '../../protocol/model/wire.js';
import type { JournalRecord } from '../../protocol/session/journal.js';
import { callSubject, subjectText } from '../calls/call-subject.js';
import { shortened, type TextEdit, type TranscriptItem } from './transcript-item.js';

type RecordOf<Type extends JournalRecord['type']> = JournalRecord & { readonly type: Type };
type Block = Readonly<Record<string, unknown>>;

/** Thoughts are shown by their beginning. */
const LONGEST_THOUGHT = 600;
/** Of one side of a change. */
const LONGEST_SIDE = 16_000;
const MOST_EDITS = 20;

export const promptOf = ({ raw, from, ts }: RecordOf<'letter.received'>): TranscriptItem => ({
  kind: 'prompt',
  at: ts,
  from,
  text: shortened(textOf(blocksIn(raw))),
});

export const itemsOfMessage = ({
  raw,
  ts,
  stopReason,
}: RecordOf<'assistant.received'>): readonly TranscriptItem[] => {
  const items = blocksIn(raw).flatMap((block) => itemOfBlock(block, ts) ?? []);
  const cut = CUT[stopReason];
  return cut === undefined
    ? items
    : [...items, { kind: 'note', at: ts, text: cut, isTrouble: true }];
};

/** Why an answer ends where it does, when that is not its own end. */
const CUT: Readonly<Record<string, string>> = {
  interrupted: 'The answer was interrupted here.',
  max_tokens: 'The answer was cut here: it may not be longer.',
  model_context_window_exceeded: 'The answer was cut here: the context window is full.',
  refusal: 'The model refused to go on.',
};

/** Undefined for blocks that people need not see. */
export const itemOfBlock = (block: Block, at: number): TranscriptItem | undefined => {
  switch (block.type) {
    case 'text':
      return { kind: 'text', at, text: shortened(wordsIn(block.text)) };
    case 'thinking':
      return { kind: 'thinking', at, text: shortened(wordsIn(block.thinking), LONGEST_THOUGHT) };
    case 'redacted_thinking':
      return { kind: 'thinking', at, text: '(hidden by the provider)' };
    case 'tool_use':
    case 'server_tool_use':
      return callItem(block, at);
    default:
      return undefined;
  }
};

const callItem = ({ id, name, input }: Block, at: number): TranscriptItem => {
  const tool = wordsIn(name) || '?';
  const subject = subjectText(callSubject(input, '/'), '/');
  const edits = editsIn(tool, input);
  return {
    kind: 'call',
    at,
    tool,
    call: wordsIn(id),
    text: shortened(subject === '' ? tool : `${tool} ${subject}`),
    ...(edits.length > 0 && { edits }),
  };
};

/** What a call would put into a file, as its input says. */
const editsIn = (tool: string, input: unknown): readonly TextEdit[] => {
  if (!isBlock(input)) return [];
  const edit = ({ old_string, new_string }: Block): TextEdit => ({
    before: shortened(wordsIn(old_string), LONGEST_SIDE),
    after: shortened(wordsIn(new_string), LONGEST_SIDE),
  });
  if (tool === 'Edit') return [edit(input)];
  if (tool === 'Write') return [edit({ new_string: input.content })];
  if (tool === 'NotebookEdit') return [edit({ new_string: input.new_source })];
  const several = tool === 'MultiEdit' && Array.isArray(input.edits) ? input.edits : [];
  return several.slice(0, MOST_EDITS).filter(isBlock).map(edit);
};

export const resultOf = ({
  call,
  tool,
  outcome,
  raw,
  ts,
}: RecordOf<'call.ended'>): TranscriptItem => {
  const [block = {}] = blocksIn(`[${raw}]`);
  const content = Array.isArray(block.content) ? textOf(block.content.filter(isBlock)) : '';
  const isTrouble = outcome !== 'ok' || block.is_error === true;
  return {
    kind: 'result',
    at: ts,
    call,
    tool,
    outcome,
    text: shortened(wordsIn(block.content) || content),
    ...(isTrouble && { isTrouble }),
  };
};

/** What is no text is named. */
const textOf = (blocks: readonly Block[]): string =>
  blocks
    .map(({ type, text }) => (type === 'text' ? wordsIn(text) : `(${wordsIn(type)})`))
    .join('\n');

const blocksIn = (raw: RawJson): readonly Block[] => {
  const value: unknown = JSON.parse(raw);
  return Array.isArray(value) ? value.filter(isBlock) : [];
};

const isBlock = (value: unknown): value is Block => typeof value === 'object' && value !== null;

const wordsIn = (value: unknown): string => (typeof value === 'string' ? value : '');
