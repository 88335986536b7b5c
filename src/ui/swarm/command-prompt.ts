/** Command prompt of the swarm screen: sends messages, and stops and resumes agents. */
import { viewDraft } from '../../terminal/input/draft-view.js';
import { type Key, LineEditor } from '../../terminal/input/line-editor.js';
import { foldLine } from '../../terminal/text/fit-text.js';
import { plainText } from '../../terminal/text/sanitize.js';
import { keyName } from '../screen/key-name.js';
import type { Cursor } from '../screen/painter.js';
import type { SwarmSteering } from './swarm-data-source.js';

/** Time for which a notice is shown. */
const NOTICE_MS = 8_000;
const MAX_NOTICE_LINES = 4;

export interface SteeringTarget {
  readonly session: string;
  readonly id: string;
  /** Display name. */
  readonly called: string;
  /** Number of descendants. */
  readonly below: number;
}

/** Lines above the footer. */
export interface PromptView {
  readonly lines: readonly string[];
  /** Text cursor within `lines`. */
  readonly cursor?: Cursor;
  readonly hints: readonly { readonly key: string; readonly text: string }[];
}

type Question =
  | { readonly kind: 'message'; readonly to: SteeringTarget; readonly editor: LineEditor }
  | { readonly kind: 'stop'; readonly to: SteeringTarget };

export class CommandPrompt {
  private readonly steering: SwarmSteering | undefined;
  private readonly changed: () => void;
  private question: Question | undefined;
  private notice: string | undefined;
  private noticeTimer: NodeJS.Timeout | undefined;
  /** Aborted by `close`: outcomes are not shown any more. */
  private readonly closed = new AbortController();

  constructor(steering: SwarmSteering | undefined, changed: () => void) {
    this.steering = steering;
    this.changed = changed;
  }

  get canSteer(): boolean {
    return this.steering !== undefined;
  }

  /** True if the prompt has the keys. */
  get isAsking(): boolean {
    return this.question !== undefined;
  }

  /** Stops waiting for outcomes. Commands that were sent stay sent. */
  close(): void {
    this.closed.abort();
    clearTimeout(this.noticeTimer);
  }

  write(to: SteeringTarget): void {
    if (this.canSteer) this.question = { kind: 'message', to, editor: new LineEditor() };
  }

  askToStop(to: SteeringTarget): void {
    if (this.canSteer) this.question = { kind: 'stop', to };
  }

  resume({ session, id, called }: SteeringTarget): void {
    const { steering } = this;
    if (steering === undefined) return;
    this.run(`Resuming ${called} …`, (signal) => steering.resume(session, id, signal));
  }

  press(key: Key): void {
    const { question } = this;
    if (question?.kind === 'stop') this.decide(question.to, keyName(key));
    if (question?.kind !== 'message') return;
    const stroke = question.editor.press(key);
    if (stroke.kind === 'escape' || stroke.kind === 'interrupt') this.question = undefined;
    if (stroke.kind === 'submit') this.send(question.to, stroke.text);
  }

  paste(text: string): void {
    if (this.question?.kind === 'message') this.question.editor.paste(text);
  }

  /** Returns undefined if there is neither a prompt nor a notice. */
  view(width: number): PromptView | undefined {
    const { question, notice } = this;
    if (question?.kind === 'message') {
      const { rows, row, column } = viewDraft(
        `to ${question.to.called}: `,
        question.editor.draft,
        width,
      );
      const hints = [
        { key: 'Enter', text: 'send' },
        { key: 'Esc', text: 'cancel' },
      ];
      return { lines: rows, cursor: { row, column }, hints };
    }
    if (question?.kind === 'stop') {
      const { called, below } = question.to;
      const others =
        below === 0 ? '' : ` and the ${below === 1 ? 'agent' : `${below} agents`} below it`;
      const lines = foldLine(`Stop ${called}${others}?`, width);
      return {
        lines,
        hints: [
          { key: 'y', text: 'stop' },
          { key: 'n', text: 'cancel' },
        ],
      };
    }
    if (notice === undefined) return undefined;
    return { lines: foldLine(notice, width).slice(0, MAX_NOTICE_LINES), hints: [] };
  }

  /** Shows a sentence for `NOTICE_MS`. */
  showNotice(sentence: string): void {
    if (this.closed.signal.aborted) return;
    clearTimeout(this.noticeTimer);
    this.notice = plainText(sentence, 600);
    this.noticeTimer = setTimeout(() => {
      this.notice = undefined;
      this.changed();
    }, NOTICE_MS);
    this.changed();
  }

  private decide(to: SteeringTarget, key: string): void {
    this.question = undefined;
    const { steering } = this;
    if (steering === undefined || (key !== 'y' && key !== 'Y')) return;
    this.run(`Stopping ${to.called} …`, (signal) => steering.stop(to.session, to.id, signal));
  }

  private send({ session, id, called }: SteeringTarget, text: string): void {
    this.question = undefined;
    const { steering } = this;
    if (steering === undefined || text.trim() === '') return;
    this.run(`Sending to ${called} …`, (signal) => steering.send(session, id, text, signal));
  }

  private run(meanwhile: string, act: (signal: AbortSignal) => Promise<string>): void {
    clearTimeout(this.noticeTimer);
    this.notice = plainText(meanwhile, 600);
    act(this.closed.signal)
      .then((sentence) => this.showNotice(sentence))
      .catch((defect: unknown) => this.steering?.onDefect(defect));
  }
}
