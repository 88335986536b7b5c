/** Keeps a person's answer "for this project" as an allow rule in .skein/settings.local.json. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../../protocol/errors.js';
import { isTrusted, trustWorkspace } from '../trust/trust.js';
import type { Workspace } from '../workspace/workspace-root.js';
import { writeAtomically } from '../workspace/write-atomically.js';
import { isObject, parseSettingsText, readSettingsText } from './settings-file.js';

/**
 * Returns the file. It is ours and not `.claude`'s, so that an answer given to Skein grants nothing
 * to other programs. Keys that are there stay, in their order and indentation.
 */
export const addLocalAllowRule = (folder: string, rule: string): string => {
  const file = join(folder, '.skein', 'settings.local.json');
  const text = readSettingsText(file);
  const settings = text === undefined ? {} : parseSettingsText(text, file);
  const { permissions = {} } = settings;
  if (!isObject(permissions)) throw unusable(file, 'permissions', 'an object');
  const { allow = [] } = permissions;
  if (!Array.isArray(allow)) throw unusable(file, 'permissions.allow', 'a list');
  if (allow.includes(rule)) return file;
  const changed = { ...settings, permissions: { ...permissions, allow: [...allow, rule] } };
  const indent = /^[ \t]+(?=")/m.exec(text ?? '')?.[0] ?? '  ';
  const mode = statSync(file, { throwIfNoEntry: false })?.mode;
  const json = `${JSON.stringify(changed, null, indent)}\n`;
  writeAtomically(file, json, mode === undefined ? 0o600 : mode & 0o777);
  return file;
};

/** The same, without losing the trust in a workspace whose settings only we have changed. */
export const addTrustedAllowRule = (trustFile: string, workspace: Workspace, rule: string) => {
  const wasTrusted = isTrusted(trustFile, workspace);
  const file = addLocalAllowRule(workspace.root, rule);
  if (wasTrusted) trustWorkspace(trustFile, workspace);
  return file;
};

const unusable = (file: string, key: string, expected: string) =>
  new UsageError(
    `Cannot keep the answer: ${key} in ${file} is not ${expected}. Fix it or remove it.`,
  );
