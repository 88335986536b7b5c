/** Messages between agents: free text, and requests that are answered with yes or no. */

/** A response names its request and says whether it approves. */
export const MESSAGE_KINDS = [
  'message',
  'shutdown_request',
  'shutdown_response',
  'plan_approval_request',
  'plan_approval_response',
] as const;
type MessageKind = (typeof MESSAGE_KINDS)[number];

export interface TeamMessage {
  readonly kind: MessageKind;
  /** Free text, a plan, or a reason. */
  readonly text: string;
  /** Only in responses. */
  readonly answers?: { readonly request: string; readonly approve: boolean } | undefined;
}

/** Arguments of a SendMessage call. */
export interface MessageRequest {
  readonly call: string;
  /** Name, id or beginning of an id; `lead`; or `*` for all other teammates. */
  readonly to: string;
  readonly message: TeamMessage;
}

/** Delivery result at one address. */
export interface MessageReceipt {
  readonly agent: string;
  /** Name of the agent, else its id. */
  readonly name: string;
  /**
   * `held`: a person stopped the agent, which reads the message when it resumes. `refused`: a person stopped
   * the agent. `lost`: the agent could not be reached for the reason `why`, or without a `why`, its journal
   * is gone.
   */
  readonly outcome: 'delivered' | 'resumed' | 'held' | 'refused' | 'lost';
  readonly why?: string;
  /** Id of the request. Only for messages that ask for a response. */
  readonly request?: string;
}

export const isUndelivered = ({ outcome }: Pick<MessageReceipt, 'outcome'>): boolean =>
  outcome === 'refused' || outcome === 'lost';

/** Prefix of the id of a letter that answers a request. The id of the request follows. */
export const ANSWER_PREFIX = 'answer_';

/** Address of the lead. */
export const LEAD_NAME = 'lead';
/** Address of all other teammates. */
export const ALL_TEAMMATES = '*';
