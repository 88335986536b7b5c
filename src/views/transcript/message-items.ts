/** Transcript items of letters, model messages and call results. Blocks are not trusted. */

import { asText } from '../../lib/text/as-text.js';
import type { RawJson } from '../../protocol/model/wire-block.js';
import type { JournalRecord } from '../../protocol/session/journal-record.js';
import { callSubject, subjectText } from '../calls/call-subject.js';
import { type ShownEdit, shortened, type TranscriptItem } from './transcript-item.js';

type RecordOf<Type extends JournalRecord['type']> = JournalRecord & { readonly type: Type };
type Block = Readonly<Record<string, unknown>>;

const MAX_THOUGHT_LENGTH = 600;
/** Maximum characters of each side of an edit. */
const MAX_EDIT_LENGTH = 16_000;
const MAX_EDITS = 20;

export const promptItem = ({ raw, from, ts }: RecordOf<'letter.received'>): TranscriptItem => ({
  kind: 'prompt',
  at: ts,
  from,
  text: shortened(textOf(blocksIn(raw))),
});

export const messageItems = ({
  raw,
  ts,
  stopReason,
}: RecordOf<'assistant.received'>): readonly TranscriptItem[] => {
  const items = blocksIn(raw).flatMap((block) => blockItem(block, ts) ?? []);
  const cut = CUT_NOTES[stopReason];
  return cut === undefined
    ? items
    : [...items, { kind: 'note', at: ts, text: cut, isProblem: true }];
};

/** Notes for stop reasons that cut a message. */
const CUT_NOTES: Readonly<Record<string, string>> = {
  interrupted: 'The answer was interrupted here.',
  max_tokens: 'The answer was cut here at the output limit.',
  model_context_window_exceeded: 'The answer was cut here: the context window is full.',
  refusal: 'The model refused to continue.',
};

/** Returns undefined for blocks that are not shown. */
export const blockItem = (block: Block, at: number): TranscriptItem | undefined => {
  switch (block.type) {
    case 'text':
      return { kind: 'text', at, text: shortened(asText(block.text)) };
    case 'thinking':
      return { kind: 'thinking', at, text: shortened(asText(block.thinking), MAX_THOUGHT_LENGTH) };
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
  const tool = asText(name) || '?';
  const subject = subjectText(callSubject(input, '/'), '/');
  const edits = editsIn(tool, input);
  return {
    kind: 'call',
    at,
    tool,
    call: asText(id),
    text: shortened(subject === '' ? tool : `${tool} ${subject}`),
    ...(edits.length > 0 && { edits }),
  };
};

/** Returns the edits in the input of a writing tool. */
const editsIn = (tool: string, input: unknown): readonly ShownEdit[] => {
  if (!isBlock(input)) return [];
  const edit = ({ old_string, new_string }: Block): ShownEdit => ({
    before: shortened(asText(old_string), MAX_EDIT_LENGTH),
    after: shortened(asText(new_string), MAX_EDIT_LENGTH),
  });
  if (tool === 'Edit') return [edit(input)];
  if (tool === 'Write') return [edit({ new_string: input.content })];
  if (tool === 'NotebookEdit') return [edit({ new_string: input.new_source })];
  const several = tool === 'MultiEdit' && Array.isArray(input.edits) ? input.edits : [];
  return several.slice(0, MAX_EDITS).filter(isBlock).map(edit);
};

export const resultItem = ({
  call,
  tool,
  outcome,
  raw,
  ts,
}: RecordOf<'call.ended'>): TranscriptItem => {
  const [block = {}] = blocksIn(`[${raw}]`);
  const content = Array.isArray(block.content) ? textOf(block.content.filter(isBlock)) : '';
  const isFailed = outcome !== 'ok' || block.is_error === true;
  return {
    kind: 'result',
    at: ts,
    call,
    tool,
    outcome,
    text: shortened(asText(block.content) || content),
    ...(isFailed && { isProblem: isFailed }),
  };
};

/** Blocks that are not text are shown as their type. */
const textOf = (blocks: readonly Block[]): string =>
  blocks.map(({ type, text }) => (type === 'text' ? asText(text) : `(${asText(type)})`)).join('\n');

const blocksIn = (raw: RawJson): readonly Block[] => {
  const value: unknown = JSON.parse(raw);
  return Array.isArray(value) ? value.filter(isBlock) : [];
};

const isBlock = (value: unknown): value is Block => typeof value === 'object' && value !== null;
