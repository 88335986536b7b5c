/** What a person wants of an agent: typed, confirmed, told, and what came back of it, shown for a while. */
import { viewDraft } from '../../terminal/input/draft-view.js';
import { type Key, LineEditor } from '../../terminal/input/line-editor.js';
import { plainText } from '../../terminal/text/sanitize.js';
import { folded } from '../../terminal/text/text-fit.js';
import { keyName } from '../screen/key-name.js';
import type { Cursor } from '../screen/painter.js';
import type { Steering } from './swarm-source.js';

/** Long enough to be read. */
const SHOWN_MS = 8_000;
const MOST_NOTICE_LINES = 4;

export interface Steered {
  readonly session: string;
  readonly id: string;
  /** How people call it. */
  readonly called: string;
  /** How many work for it, and for those. */
  readonly below: number;
}

/** Lines that stand above the bottom for now. */
export interface DeskView {
  readonly lines: readonly string[];
  /** In those. */
  readonly cursor?: Cursor;
  readonly hints: readonly { readonly key: string; readonly says: string }[];
}

type Question =
  | { readonly kind: 'message'; readonly to: Steered; readonly editor: LineEditor }
  | { readonly kind: 'stop'; readonly to: Steered };

export class CommandPrompt {
  private readonly steering: Steering | undefined;
  private readonly changed: () => void;
  private question: Question | undefined;
  private notice: string | undefined;
  private fading: NodeJS.Timeout | undefined;
  /** Nobody looks at it any more. */
  private readonly closed = new AbortController();

  constructor(steering: Steering | undefined, changed: () => void) {
    this.steering = steering;
    this.changed = changed;
  }

  get canSteer(): boolean {
    return this.steering !== undefined;
  }

  /** Keys are for it. */
  get isAsking(): boolean {
    return this.question !== undefined;
  }

  /** What was told stays told; nothing waits for what comes of it. */
  close(): void {
    this.closed.abort();
    clearTimeout(this.fading);
  }

  write(to: Steered): void {
    if (this.canSteer) this.question = { kind: 'message', to, editor: new LineEditor() };
  }

  askToStop(to: Steered): void {
    if (this.canSteer) this.question = { kind: 'stop', to };
  }

  resume({ session, id, called }: Steered): void {
    const { steering } = this;
    if (steering === undefined) return;
    this.tell(`${called} is told to go on …`, (signal) => steering.resume(session, id, signal));
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

  /** Undefined when there is nothing to say. */
  view(width: number): DeskView | undefined {
    const { question, notice } = this;
    if (question?.kind === 'message') {
      const { rows, row, column } = viewDraft(
        `to ${question.to.called}: `,
        question.editor.draft,
        width,
      );
      const hints = [
        { key: 'Enter', says: 'send' },
        { key: 'Esc', says: 'do not' },
      ];
      return { lines: rows, cursor: { row, column }, hints };
    }
    if (question?.kind === 'stop') {
      const { called, below } = question.to;
      const others = below === 0 ? '' : ` and the ${below === 1 ? 'one' : below} below it`;
      const lines = folded(`Stop ${called}${others}?`, width);
      return {
        lines,
        hints: [
          { key: 'y', says: 'stop' },
          { key: 'n', says: 'do not' },
        ],
      };
    }
    if (notice === undefined) return undefined;
    return { lines: folded(notice, width).slice(0, MOST_NOTICE_LINES), hints: [] };
  }

  /** A sentence that is shown for a while. */
  say(sentence: string): void {
    if (this.closed.signal.aborted) return;
    clearTimeout(this.fading);
    this.notice = plainText(sentence, 600);
    this.fading = setTimeout(() => {
      this.notice = undefined;
      this.changed();
    }, SHOWN_MS);
    this.changed();
  }

  private decide(to: Steered, key: string): void {
    this.question = undefined;
    const { steering } = this;
    if (steering === undefined || (key !== 'y' && key !== 'Y')) return;
    this.tell(`${to.called} is told to stop …`, (signal) =>
      steering.stop(to.session, to.id, signal),
    );
  }

  private send({ session, id, called }: Steered, text: string): void {
    this.question = undefined;
    const { steering } = this;
    if (steering === undefined || text.trim() === '') return;
    this.tell(`It is being sent to ${called} …`, (signal) =>
      steering.send(session, id, text, signal),
    );
  }

  private tell(meanwhile: string, act: (signal: AbortSignal) => Promise<string>): void {
    clearTimeout(this.fading);
    this.notice = plainText(meanwhile, 600);
    act(this.closed.signal)
      .then((sentence) => this.say(sentence))
      .catch((defect: unknown) => this.steering?.onDefect(defect));
  }
}
