/** What agents write to each other: plain words, and the few requests that are answered in a set form. */

/** An answer names its request, and says yes or no. */
export const MESSAGE_KINDS = [
  'message',
  'shutdown_request',
  'shutdown_response',
  'plan_approval_request',
  'plan_approval_response',
] as const;
export type MessageKind = (typeof MESSAGE_KINDS)[number];

export interface TeamMessage {
  readonly kind: MessageKind;
  /** The words, a plan, or a reason. */
  readonly text: string;
  /** Of an answer. */
  readonly answers?: { readonly request: string; readonly approve: boolean } | undefined;
}

/** What SendMessage asks for. */
export interface MessageOrder {
  readonly call: string;
  /** A name, an id or its beginning; `lead`, or `*` for all other teammates. */
  readonly to: string;
  readonly message: TeamMessage;
}

/** What became of it at one address. */
export interface MessageReceipt {
  readonly agent: string;
  /** As it is called: its name, else its id. */
  readonly name: string;
  /**
   * `held`: the agent was stopped by a person, and reads it when it goes on. `refused`: it was stopped by
   * a person. `lost`: it could not be reached, because of `why`; else nothing is left of it to go on with.
   */
  readonly came: 'delivered' | 'resumed' | 'held' | 'refused' | 'lost';
  readonly why?: string;
  /** Of a request that wants an answer. */
  readonly request?: string;
}

/** It reached nobody. */
export const isUndelivered = ({ came }: Pick<MessageReceipt, 'came'>): boolean =>
  came === 'refused' || came === 'lost';

/** How the id of a letter begins that answers a request; the request follows. */
export const ANSWER = 'answer_';

/** How everybody calls the lead, and all of a team. */
export const LEAD_NAME = 'lead';
export const EVERYBODY = '*';
