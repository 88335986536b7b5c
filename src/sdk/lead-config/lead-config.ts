/**
 * Lead config: a lead's flags and permission mode, which the workers of its swarm use too. It is
 * signed with the person's key, so that write access to the store is not enough to change a worker's
 * permissions. It has a version, so that an older config cannot undo a later prohibition.
 */
import type { KeyObject } from 'node:crypto';
import { hostname } from 'node:os';
import { z } from 'zod';
import type { ModeSwitch } from '../../actors/permissions/mode-switch.js';
import type { SessionOptions } from '../../actors/session/lead-session.js';
import { stateLayout } from '../../config/workspace/state-layout.js';
import { canonicalJson } from '../../lib/json/canonical-json.js';
import { parseJson } from '../../lib/json/parse-json.js';
import { PERMISSION_MODES } from '../../protocol/permission/permission-mode.js';
import { UsageError } from '../../protocol/skein-error.js';
import { openPersonKey } from '../../store/files/person-key.js';
import type { OpenedStore } from '../assembly/options/open-store.js';
import type { RunOptions } from '../assembly/options/run-options.js';
import { signHandover } from './sign-handover.js';
import { signStatement, verifyStatement } from './sign-statement.js';
import { workspaceSource } from './workspace-remote.js';

/** Name of the artifact that stores the config. */
export const LEAD_CONFIG_FILE = 'run-terms.json';

const text = z.string().exactOptional();
const texts = z.array(z.string()).exactOptional();
const count = z.number().exactOptional();
const isSet = z.boolean().exactOptional();

/** Flags that decide prompts, tools and rulings. Without the directory and the session. */
const configFlags = z.object({
  model: text,
  fallbackModel: text,
  maxTurns: count,
  maxBudgetUsd: count,
  effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).exactOptional(),
  maxBudgetTokens: count,
  allowedTools: texts,
  disallowedTools: texts,
  systemPrompt: text,
  appendSystemPrompt: text,
  overrideSystemPrompt: text,
  agent: text,
  agents: text,
  bare: isSet,
  settings: text,
  addDir: texts,
  jsonSchema: text,
  trust: isSet,
  ask: isSet,
});

/** Format version, raised when older workers would misread the config. */
const FORMAT_VERSION = 2;

const claims = z.object({
  v: z.literal(FORMAT_VERSION),
  session: z.string(),
  /** Creation time of the session in ms, because an earlier session may have had the same id. */
  createdAt: z.number(),
  /** Epoch of the lead that published the config. */
  epoch: z.number(),
  /** Count of configs that this lead has published. */
  edition: z.number(),
  /** Current permission mode of the lead. */
  mode: z.enum(PERMISSION_MODES),
  /** Name of the lead's machine. */
  host: z.string(),
  cwd: z.string(),
  flags: configFlags,
  /** Git source of the workspace, for machines that do not share the lead's folder. */
  workspace: workspaceSource.exactOptional(),
  /** Digest of the workspace's settings. Present if the person trusts them. */
  trusted: text,
});
export type LeadConfig = z.infer<typeof claims>;

/** Fields that every format version has. */
const statement = z.looseObject({ v: z.number(), signature: z.string() });

/** Kind in the signature. It never changes, because old signatures must stay valid. */
const KIND = 'terms';

export const signLeadConfig = (config: LeadConfig, key: KeyObject): Uint8Array =>
  Buffer.from(signStatement(KIND, config, key));

/**
 * Returns the publisher of the config for a session whose agents run on workers, or undefined without
 * workers. `asks` is true if the lead has a surface that can answer questions.
 */
export const leadConfigPublisher = (
  { sessions }: Pick<OpenedStore, 'sessions'>,
  flags: RunOptions,
  mode: ModeSwitch,
  skeinHome: string,
  workspace: Pick<LeadConfig, 'workspace' | 'trusted'> & { readonly asks: boolean },
): SessionOptions['leadConfig'] => {
  if (sessions.jobs.local !== undefined) return undefined;
  const { asks, ...workspaceClaims } = workspace;
  let opened: KeyObject | undefined;
  const key = (): KeyObject => {
    opened ??= openPersonKey(stateLayout(skeinHome).keys).privateKey;
    return opened;
  };
  let edition = 0;
  return {
    write({ meta: { id: session, cwd, createdAt }, epoch }) {
      edition += 1;
      const config = claims.parse({
        v: FORMAT_VERSION,
        session,
        createdAt,
        epoch,
        edition,
        mode: mode.mode,
        cwd,
        host: hostname(),
        ...workspaceClaims,
        flags: { ...flags, ask: asks },
      });
      return { name: LEAD_CONFIG_FILE, bytes: signLeadConfig(config, key()) };
    },
    handover: ({ meta: { id: session, createdAt }, epoch }, agent, at) =>
      signHandover({ session, createdAt, epoch, edition, agent, at }, key()),
    listen: (listener) => mode.listen(listener),
  };
};

/** Parses and verifies a config. Throws UsageError if it is damaged, unsigned or of another version. */
export const readLeadConfig = (
  bytes: Uint8Array,
  session: string,
  publicKeys: readonly string[],
): LeadConfig => {
  const { data } = statement.safeParse(parseJson(Buffer.from(bytes).toString()));
  if (data === undefined) throw damaged(session);
  // Checked first, because a config of another format version would look damaged or unsigned.
  if (data.v !== FORMAT_VERSION) {
    throw versionMismatch(session, data.v < FORMAT_VERSION ? 'an older' : 'a newer');
  }
  const { signature: _signature, ...signed } = data;
  if (!verifyStatement(KIND, data, publicKeys) || signed.session !== session) {
    throw new UsageError(
      `Session ${session} was started by a person whose key this worker does not know: add the key that \`skein config\` shows there to skein.personKeys (SKEIN_PERSON_KEYS) here.`,
    );
  }
  const config = claims.safeParse(signed).data;
  // Refuse unknown fields, because they may forbid an action.
  if (config === undefined || canonicalJson(config) !== canonicalJson(signed)) {
    throw versionMismatch(session, 'another');
  }
  return config;
};

const damaged = (session: string): UsageError =>
  new UsageError(`The config that session ${session} was started with is damaged.`);

const versionMismatch = (session: string, versionText: string): UsageError =>
  new UsageError(
    `Session ${session} was started with ${versionText} version of skein than this worker has: use the same version for both.`,
  );
