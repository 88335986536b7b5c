/** Sentences of a transcript about records that are neither messages nor calls. */
import type { JournalRecord } from '../../protocol/session/journal-record.js';
import type { Settlement } from '../../protocol/tools/worktrees.js';
import { shortened } from './transcript-item.js';

interface TranscriptNote {
  readonly text: string;
  /** Id of the call that the note is about. */
  readonly call?: string;
  readonly isProblem?: boolean;
}

const MAX_NOTE_LENGTH = 2_000;

export const transcriptNote = (record: JournalRecord): TranscriptNote | undefined => {
  const note = sentenceFor(record);
  return note && { ...note, text: shortened(note.text, MAX_NOTE_LENGTH) };
};

const problemNote = (text: string): TranscriptNote => ({ text, isProblem: true });

const sentenceFor = (record: JournalRecord): TranscriptNote | undefined => {
  switch (record.type) {
    case 'agent.created':
      return { text: createdText(record) };
    case 'epoch.began':
      return { text: 'Another process resumed the agent here.' };
    case 'agent.queued':
      return { text: `The agent waits in the queue: ${record.reason}` };
    case 'agent.restarted':
      return problemNote(`The agent restarts, attempt ${record.attempt}: ${record.reason}`);
    case 'agent.moved':
      return { text: `The agent works on ${record.to.host} now, in ${record.to.place.path}.` };
    case 'turn.failed':
      return problemNote(`Attempt ${record.attempt} failed (${record.kind}): ${record.message}`);
    case 'prompt.broken':
      return brokenNote(record);
    case 'question.asked': {
      const { call, description, reason } = record;
      return { call, text: `The agent asks for permission to run ${description}: ${reason}` };
    }
    case 'question.answered':
      return answeredNote(record);
    case 'hook.ran':
      return record.outcome === 'ok'
        ? undefined
        : problemNote(
            `The hook ${record.hook} of ${record.event}: ${record.outcome} ${record.detail}`,
          );
    case 'orders.found':
      return problemNote(
        `Text from ${record.from} may give orders to its reader: ${record.kinds.join(', ')}`,
      );
    case 'bound.hit':
      return problemNote(`A limit was reached, ${record.what} (${record.limit}): ${record.detail}`);
    case 'letter.undelivered':
      return problemNote(`A letter was not delivered to ${record.to}: ${record.reason}`);
    case 'plan.approved':
      return { text: `The plan was approved by ${record.by}.` };
    case 'journal.repaired':
      return problemNote(`Records were lost: ${record.damage.join('; ')}`);
    case 'session.rewound':
      return { text: rewoundText(record) };
    case 'worktree.settled':
      return { text: `The worktree: ${settlementText(record.outcome)}` };
    case 'run.ended':
      return endedNote(record);
    default:
      return undefined;
  }
};

type RecordOf<Type extends JournalRecord['type']> = JournalRecord & { readonly type: Type };

const createdText = ({ origin, cwd, model, forkedFrom }: RecordOf<'agent.created'>): string => {
  const before = forkedFrom === undefined ? '' : ` It continues session ${forkedFrom.session}.`;
  if (origin === undefined) return `The agent started in ${cwd} with ${model}.${before}`;
  const type = origin.type ?? 'a fork';
  const name = origin.name === undefined ? '' : ` called ${origin.name}`;
  return `The agent started as ${type}${name} with ${model}: ${origin.description}${before}`;
};

const brokenNote = (record: RecordOf<'prompt.broken'>): TranscriptNote | undefined => {
  const { reason, section, dropped, tokensBefore, tokensAfter } = record;
  if (reason === 'clear') return { text: 'The conversation was cleared.' };
  if (reason === 'model') return { text: `Another model answers: ${section}` };
  if (dropped === undefined) return undefined;
  const figures =
    tokensBefore === undefined || tokensAfter === undefined
      ? ''
      : `, from about ${tokensBefore} to ${tokensAfter} tokens`;
  const fate = reason === 'compaction' ? 'were summarised' : 'were dropped';
  return { text: `To make room, ${dropped} messages ${fate}${figures}.` };
};

const answeredNote = (record: RecordOf<'question.answered'>): TranscriptNote => {
  const { call, surface, outcome, detail } = record;
  const text = `The answer of ${surface}, ${outcome}: ${detail}`;
  return { call, text, ...(outcome !== 'accepted' && { isProblem: true }) };
};

const rewoundText = ({ conversation, changes, undoes }: RecordOf<'session.rewound'>): string => {
  const conversationText = conversation ? 'the conversation and ' : '';
  return `${undoes === undefined ? 'Rewound' : 'Rewind undone'}: ${conversationText}${changes.length} files.`;
};

const settlementText = (outcome: Settlement): string => {
  if (outcome.kind === 'kept') return `kept, ${outcome.why}`;
  const files = 'files' in outcome ? `, ${outcome.files.length} files` : '';
  return `${outcome.kind}${files}`;
};

const endedNote = ({ reason, detail, final }: RecordOf<'run.ended'>): TranscriptNote => {
  const text = `${final ? 'The agent ended' : 'The run ended'}: ${reason}${detail === null ? '' : `, ${detail}`}`;
  return { text, ...(reason !== 'end_turn' && { isProblem: true }) };
};
