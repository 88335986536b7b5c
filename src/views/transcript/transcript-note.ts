/** Sentences of a transcript about records that are neither messages nor calls. */
import type { JournalRecord } from '../../protocol/session/journal-record.js';
import type { Settlement } from '../../protocol/tools/worktrees.js';
import { shortened } from './transcript-item.js';

interface TranscriptNote {
  readonly text: string;
  /** Id of the call that the note is about. */
  readonly call?: string;
  readonly isTrouble?: boolean;
}

const MAX_NOTE_LENGTH = 2_000;

export const transcriptNote = (record: JournalRecord): TranscriptNote | undefined => {
  const note = sentenceFor(record);
  return note && { ...note, text: shortened(note.text, MAX_NOTE_LENGTH) };
};

const trouble = (text: string): TranscriptNote => ({ text, isTrouble: true });

const sentenceFor = (record: JournalRecord): TranscriptNote | undefined => {
  switch (record.type) {
    case 'agent.created':
      return { text: beginning(record) };
    case 'epoch.began':
      return { text: 'Another process resumed the agent here.' };
    case 'agent.queued':
      return { text: `The agent waits in the queue: ${record.reason}` };
    case 'agent.restarted':
      return trouble(`The agent restarts, attempt ${record.attempt}: ${record.reason}`);
    case 'agent.moved':
      return { text: `The agent works on ${record.to.host} now, in ${record.to.place.path}.` };
    case 'turn.failed':
      return trouble(`Attempt ${record.attempt} failed (${record.kind}): ${record.message}`);
    case 'prompt.broken':
      return broken(record);
    case 'question.asked': {
      const { call, description, reason } = record;
      return { call, text: `The agent asks for permission to run ${description}: ${reason}` };
    }
    case 'question.answered':
      return answered(record);
    case 'hook.ran':
      return record.outcome === 'ok'
        ? undefined
        : trouble(`The hook ${record.hook} of ${record.event}: ${record.outcome} ${record.detail}`);
    case 'bound.hit':
      return trouble(`A limit was reached, ${record.what} (${record.limit}): ${record.detail}`);
    case 'letter.undelivered':
      return trouble(`A letter was not delivered to ${record.to}: ${record.reason}`);
    case 'plan.approved':
      return { text: `The plan was approved by ${record.by}.` };
    case 'session.rewound':
      return { text: rewound(record) };
    case 'worktree.settled':
      return { text: `The worktree: ${settled(record.outcome)}` };
    case 'run.ended':
      return ended(record);
    default:
      return undefined;
  }
};

type RecordOf<Type extends JournalRecord['type']> = JournalRecord & { readonly type: Type };

const beginning = ({ origin, cwd, model, forkedFrom }: RecordOf<'agent.created'>): string => {
  const before = forkedFrom === undefined ? '' : ` It continues session ${forkedFrom.session}.`;
  if (origin === undefined) return `The agent started in ${cwd} with ${model}.${before}`;
  const what = origin.type ?? 'a fork';
  const name = origin.name === undefined ? '' : ` called ${origin.name}`;
  return `The agent started as ${what}${name} with ${model}: ${origin.description}${before}`;
};

const broken = (record: RecordOf<'prompt.broken'>): TranscriptNote | undefined => {
  const { reason, section, dropped, tokensBefore, tokensAfter } = record;
  if (reason === 'clear') return { text: 'The conversation was cleared.' };
  if (reason === 'model') return { text: `Another model answers: ${section}` };
  if (dropped === undefined) return undefined;
  const figures =
    tokensBefore === undefined || tokensAfter === undefined
      ? ''
      : `, from about ${tokensBefore} to ${tokensAfter} tokens`;
  const how = reason === 'compaction' ? 'were summarised' : 'were dropped';
  return { text: `To make room, ${dropped} messages ${how}${figures}.` };
};

const answered = (record: RecordOf<'question.answered'>): TranscriptNote => {
  const { call, surface, outcome, detail } = record;
  const text = `The answer of ${surface}, ${outcome}: ${detail}`;
  return { call, text, ...(outcome !== 'accepted' && { isTrouble: true }) };
};

const rewound = ({ conversation, changes, undoes }: RecordOf<'session.rewound'>): string => {
  const what = conversation ? 'the conversation and ' : '';
  return `${undoes === undefined ? 'Rewound' : 'Rewind undone'}: ${what}${changes.length} files.`;
};

const settled = (outcome: Settlement): string => {
  if (outcome.kind === 'kept') return `kept, ${outcome.why}`;
  const files = 'files' in outcome ? `, ${outcome.files.length} files` : '';
  return `${outcome.kind}${files}`;
};

const ended = ({ reason, detail, final }: RecordOf<'run.ended'>): TranscriptNote => {
  const text = `${final ? 'The agent ended' : 'The run ended'}: ${reason}${detail === null ? '' : `, ${detail}`}`;
  return { text, ...(reason !== 'end_turn' && { isTrouble: true }) };
};
