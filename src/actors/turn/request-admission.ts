/**
 * What a request needs before it may leave: its turn among those that begin with the same words, money
 * from its grant, and a place among the requests in flight. All of it is given back together.
 */
import type { Mark } from '../../prompt/request/cache-breakpoints.js';
import type { Stop } from '../../protocol/agent/agent.js';
import type { Budget, Need, Reservation } from '../../protocol/model/budget.js';
import type { Governor } from '../../protocol/model/governor.js';
import type { TellWait } from '../../protocol/model/queueing.js';
import { isRefusal } from '../budget/run-budget.js';

/** How the first request of an agent goes that shares its beginning with others (law 4). */
export interface FirstRequest {
  /** Undefined: the usual ones. */
  readonly marks: readonly Mark[] | undefined;
  /** Tokens of its prompt that others have left in the cache. */
  readonly knownTokens?: number;
  /** Its answer has started. */
  begun(): void;
  /** It is over; does nothing to one that has begun. */
  failed(): void;
}

type Depart = (
  model: string,
  signal: AbortSignal,
  waits: TellWait,
) => Promise<FirstRequest | undefined>;

export interface RequestAdmissionDeps {
  readonly grant: Budget;
  /** Finds out what other processes have used up of it; undefined where there are none, or there is no limit. */
  readonly audit?: (() => Promise<void>) | undefined;
  readonly governor: Governor;
  /** Undefined where nobody shares anything. Rejects with the signal's reason. */
  readonly depart?: Depart | undefined;
}

export interface RequestAdmission {
  readonly reservation: Reservation;
  /** Undefined: the usual ones. */
  readonly marks: readonly Mark[] | undefined;
  /** The answer has started. */
  begun(): void;
  /** The request is over, however it ended. */
  end(): void;
}

/**
 * In the very moment before a request is sent: a Stop when others have used up meanwhile what it counts on,
 * as those in flight may do that cost more than was set aside for them.
 */
export const recheckAdmission = <Answer extends RequestAdmission | Stop | undefined>(
  clearance: Answer,
): Answer | Stop => {
  if (clearance === undefined || 'reason' in clearance) return clearance;
  const refusal = clearance.reservation.refusal();
  if (refusal === null) return clearance;
  clearance.end();
  return refusal;
};

/**
 * A Stop when it cannot be afforded; undefined when it was called off meanwhile. Each wait is told when
 * it begins; may reject with what that throws.
 */
export const admitRequest = async (
  { grant, governor, depart, audit }: RequestAdmissionDeps,
  need: Need,
  signal: AbortSignal,
  waits: TellWait,
): Promise<RequestAdmission | Stop | undefined> => {
  let departure: FirstRequest | undefined;
  let reservation: Reservation | undefined;
  try {
    departure = await depart?.(need.model, signal, waits);
    const knownTokens = Math.max(need.knownTokens, departure?.knownTokens ?? 0);
    if (audit !== undefined) await audit();
    const answer = await grant.reserve({ ...need, knownTokens }, signal, waits);
    if (isRefusal(answer)) {
      departure?.failed();
      return answer;
    }
    reservation = answer;
    const leave = await governor.enter(signal, waits);
    return {
      reservation,
      marks: departure?.marks,
      begun: () => departure?.begun(),
      end() {
        leave();
        answer.cancel();
        departure?.failed();
      },
    };
  } catch (error) {
    reservation?.cancel();
    departure?.failed();
    if (signal.aborted) return undefined;
    throw error;
  }
};
