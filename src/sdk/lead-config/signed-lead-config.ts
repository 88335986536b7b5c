/**
 * How a lead was started and which mode holds now, for the workers of its swarm: they must do as it does.
 * Signed with the person's key, so that nobody who can only write to the store can tell a worker what to
 * allow, and in an order, so that nobody can take back what the person has forbidden since.
 */
import type { KeyObject } from 'node:crypto';
import { hostname } from 'node:os';
import { z } from 'zod';
import type { ModeSwitch } from '../../actors/permissions/mode-switch.js';
import type { SessionOptions } from '../../actors/session/session.js';
import { stateLayout } from '../../config/workspace/state-directory.js';
import { canonicalJson } from '../../lib/canonical-json.js';
import { UsageError } from '../../protocol/errors.js';
import { PERMISSION_MODES } from '../../protocol/permission/permission.js';
import { openPersonKey } from '../../store/shared/person-key.js';
import type { OpenedStore } from '../assembly/options/open-store.js';
import type { RunOptions } from '../assembly/options/run-options.js';
import { signHandover } from './signed-handover.js';
import { isSigned, signStatement } from './signed-statement.js';
import { workspaceTerms } from './workspace-remote.js';

/** Where a session keeps it. */
export const TERMS = 'run-terms.json';

const text = z.string().exactOptional();
const words = z.array(z.string()).exactOptional();
const count = z.number().exactOptional();
const isSet = z.boolean().exactOptional();

/** What decides about prompts, tools and rulings. Not where a run is, nor which session it is. */
const termFlags = z.object({
  model: text,
  fallbackModel: text,
  maxTurns: count,
  maxBudgetUsd: count,
  effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).exactOptional(),
  maxBudgetTokens: count,
  allowedTools: words,
  disallowedTools: words,
  systemPrompt: text,
  appendSystemPrompt: text,
  overrideSystemPrompt: text,
  agent: text,
  agents: text,
  bare: isSet,
  settings: text,
  addDir: words,
  jsonSchema: text,
  trust: isSet,
  ask: isSet,
});

/** Raised whenever a worker that reads the former ones would get these wrong. */
const VERSION = 2;

const claims = z.object({
  v: z.literal(VERSION),
  session: z.string(),
  /** When the session was created, since another may have had its name before. */
  createdAt: z.number(),
  /** Of the lead that says so. */
  epoch: z.number(),
  /** How often that lead has said so. */
  edition: z.number(),
  /** The permission mode of the lead now, whoever chose it. */
  mode: z.enum(PERMISSION_MODES),
  /** The machine that the lead works on. */
  host: z.string(),
  cwd: z.string(),
  flags: termFlags,
  /** Where those get the workspace that do not have it. */
  workspace: workspaceTerms.exactOptional(),
  /** A digest of the settings of the workspace, where they are trusted. */
  trusted: text,
});
export type LeadConfig = z.infer<typeof claims>;

/** What any version writes. */
const statement = z.looseObject({ v: z.number(), signature: z.string() });

const KIND = 'terms';

export const signLeadConfig = (terms: LeadConfig, key: KeyObject): Uint8Array =>
  Buffer.from(signStatement(KIND, terms, key));

/** For a session whose agents workers run; undefined where there are none. `asks`: there is somebody to put questions to. */
export const leadConfigFor = (
  { sessions }: Pick<OpenedStore, 'sessions'>,
  flags: RunOptions,
  mode: ModeSwitch,
  skeinHome: string,
  place: Pick<LeadConfig, 'workspace' | 'trusted'> & { readonly asks: boolean },
): SessionOptions['terms'] => {
  if (sessions.jobs.own !== undefined) return undefined;
  const { asks, ...where } = place;
  let opened: KeyObject | undefined;
  const key = (): KeyObject => {
    opened ??= openPersonKey(stateLayout(skeinHome).keys).privateKey;
    return opened;
  };
  let edition = 0;
  return {
    write({ meta: { id: session, cwd, createdAt }, epoch }) {
      edition += 1;
      const terms = claims.parse({
        v: VERSION,
        session,
        createdAt,
        epoch,
        edition,
        mode: mode.mode,
        cwd,
        host: hostname(),
        ...where,
        flags: { ...flags, ask: asks },
      });
      return { name: TERMS, bytes: signLeadConfig(terms, key()) };
    },
    handover: ({ meta: { id: session, createdAt }, epoch }, agent, at) =>
      signHandover({ session, createdAt, epoch, edition, agent, at }, key()),
    listen: (listener) => mode.listen(listener),
  };
};

/** Throws a UsageError that says why they do not count. */
export const readLeadConfig = (
  bytes: Uint8Array,
  session: string,
  publicKeys: readonly string[],
): LeadConfig => {
  const { data } = statement.safeParse(parse(bytes));
  if (data === undefined) throw damaged(session);
  // Ahead of all else: what another version has signed looks damaged, or as if nobody had.
  if (data.v !== VERSION) throw otherVersion(session, data.v < VERSION ? 'an older' : 'a newer');
  const { signature: _signature, ...said } = data;
  if (!isSigned(KIND, data, publicKeys) || said.session !== session) {
    throw new UsageError(
      `Session ${session} was started by somebody whose key this worker does not know: add the key that \`skein config\` shows there to skein.personKeys (SKEIN_PERSON_KEYS) here.`,
    );
  }
  const terms = claims.safeParse(said).data;
  // What is not understood here may forbid something.
  if (terms === undefined || canonicalJson(terms) !== canonicalJson(said)) {
    throw otherVersion(session, 'another');
  }
  return terms;
};

const damaged = (session: string): UsageError =>
  new UsageError(`What session ${session} was started with is damaged.`);

const otherVersion = (session: string, which: string): UsageError =>
  new UsageError(
    `Session ${session} was started with ${which} version of skein than this worker has: both need the same one.`,
  );

const parse = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return undefined;
  }
};
