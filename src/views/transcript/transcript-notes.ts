/** What happened to an agent beside what was said, in a sentence each; most records need none. */
import type { JournalRecord } from '../../protocol/session/journal.js';
import type { Settlement } from '../../protocol/tools/worktree.js';
import { shortened } from './transcript-item.js';

export interface Note {
  readonly text: string;
  /** The call that it is about. */
  readonly call?: string;
  readonly isTrouble?: boolean;
}

const LONGEST_NOTE = 2_000;

export const noteOf = (record: JournalRecord): Note | undefined => {
  const note = sentenceFor(record);
  return note && { ...note, text: shortened(note.text, LONGEST_NOTE) };
};

const trouble = (text: string): Note => ({ text, isTrouble: true });

const sentenceFor = (record: JournalRecord): Note | undefined => {
  switch (record.type) {
    case 'agent.created':
      return { text: beginning(record) };
    case 'epoch.began':
      return { text: 'Another process took it up from here.' };
    case 'agent.queued':
      return { text: `It waits for a place: ${record.reason}` };
    case 'agent.restarted':
      return trouble(`It begins again, attempt ${record.attempt}: ${record.reason}`);
    case 'agent.moved':
      return { text: `It works on ${record.to.host} now, in ${record.to.place.path}.` };
    case 'turn.failed':
      return trouble(`Attempt ${record.attempt} failed (${record.kind}): ${record.message}`);
    case 'prompt.broken':
      return broken(record);
    case 'question.asked': {
      const { call, description, reason } = record;
      return { call, text: `It asks whether ${description} may run: ${reason}` };
    }
    case 'question.answered':
      return answered(record);
    case 'hook.ran':
      return record.outcome === 'ok'
        ? undefined
        : trouble(`The hook ${record.hook} of ${record.event}: ${record.outcome} ${record.detail}`);
    case 'bound.hit':
      return trouble(`A bound was hit, ${record.what} (${record.limit}): ${record.detail}`);
    case 'letter.undelivered':
      return trouble(`A letter did not reach ${record.to}: ${record.reason}`);
    case 'plan.approved':
      return { text: `Its plan was approved by ${record.by}.` };
    case 'session.rewound':
      return { text: rewound(record) };
    case 'worktree.settled':
      return { text: `Its worktree: ${settled(record.outcome)}` };
    case 'run.ended':
      return ended(record);
    default:
      return undefined;
  }
};

type RecordOf<Type extends JournalRecord['type']> = JournalRecord & { readonly type: Type };

const beginning = ({ origin, cwd, model, forkedFrom }: RecordOf<'agent.created'>): string => {
  const before = forkedFrom === undefined ? '' : ` It goes on from session ${forkedFrom.session}.`;
  if (origin === undefined) return `It began in ${cwd} with ${model}.${before}`;
  const what = origin.type ?? 'a fork';
  const name = origin.name === undefined ? '' : ` called ${origin.name}`;
  return `It began as ${what}${name} with ${model}: ${origin.description}${before}`;
};

const broken = (record: RecordOf<'prompt.broken'>): Note | undefined => {
  const { reason, section, dropped, tokensBefore, tokensAfter } = record;
  if (reason === 'clear') return { text: 'The conversation begins anew.' };
  if (reason === 'model') return { text: `Another model answers: ${section}` };
  if (dropped === undefined) return undefined;
  const figures =
    tokensBefore === undefined || tokensAfter === undefined
      ? ''
      : `, from about ${tokensBefore} to ${tokensAfter} tokens`;
  const how = reason === 'compaction' ? 'are a summary now' : 'are gone';
  return { text: `It made room: ${dropped} messages ${how}${figures}.` };
};

const answered = (record: RecordOf<'question.answered'>): Note => {
  const { call, surface, outcome, detail } = record;
  const text = `The answer of ${surface}, ${outcome}: ${detail}`;
  return { call, text, ...(outcome !== 'accepted' && { isTrouble: true }) };
};

const rewound = ({ conversation, changes, undoes }: RecordOf<'session.rewound'>): string => {
  const what = conversation ? 'the conversation and ' : '';
  return `${undoes === undefined ? 'Taken' : 'Brought'} back: ${what}${changes.length} files.`;
};

const settled = (outcome: Settlement): string => {
  if (outcome.kind === 'kept') return `kept, ${outcome.why}`;
  const files = 'files' in outcome ? `, ${outcome.files.length} files` : '';
  return `${outcome.kind}${files}`;
};

const ended = ({ reason, detail, final }: RecordOf<'run.ended'>): Note => {
  const text = `${final ? 'It ended' : 'The run ended'}: ${reason}${detail === null ? '' : `, ${detail}`}`;
  return { text, ...(reason !== 'end_turn' && { isTrouble: true }) };
};
