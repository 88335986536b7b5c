/** Stores a person's answer "for this project" as a rule in .skein/settings.local.json. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord } from '../../lib/json/is-record.js';
import { UsageError } from '../../protocol/skein-error.js';
import { parseSettingsText, readSettingsText } from '../json/settings-document.js';
import { isTrusted, trustWorkspace } from '../trust/trust-state.js';
import type { WorkspaceFolders } from '../workspace/workspace-folders.js';
import { writeUserFile } from '../workspace/write-user-file.js';

/**
 * Adds the rule and returns the file. It is in `.skein`, not in `.claude`, so that the answer does not apply to
 * other programs. Keeps the order and indentation of existing keys. Idempotent. Throws UsageError if the file
 * cannot be changed.
 */
export const addLocalAllowRule = (folder: string, rule: string): string => {
  const file = join(folder, '.skein', 'settings.local.json');
  const text = readSettingsText(file);
  const settings = text === undefined ? {} : parseSettingsText(text, file);
  const { permissions = {} } = settings;
  if (!isRecord(permissions)) throw invalidSetting(file, 'permissions', 'an object');
  const { allow = [] } = permissions;
  if (!Array.isArray(allow)) throw invalidSetting(file, 'permissions.allow', 'a list');
  if (allow.includes(rule)) return file;
  const changed = { ...settings, permissions: { ...permissions, allow: [...allow, rule] } };
  const indent = /^[ \t]+(?=")/m.exec(text ?? '')?.[0] ?? '  ';
  const mode = statSync(file, { throwIfNoEntry: false })?.mode;
  const json = `${JSON.stringify(changed, null, indent)}\n`;
  writeUserFile(file, json, mode === undefined ? 0o600 : mode & 0o777);
  return file;
};

/** Does the same and keeps the workspace trusted, because only Skein has changed its settings. */
export const addTrustedAllowRule = (
  trustFile: string,
  workspace: WorkspaceFolders,
  rule: string,
) => {
  const wasTrusted = isTrusted(trustFile, workspace);
  const file = addLocalAllowRule(workspace.root, rule);
  if (wasTrusted) trustWorkspace(trustFile, workspace);
  return file;
};

const invalidSetting = (file: string, key: string, expected: string) =>
  new UsageError(
    `Cannot store the answer: ${key} in ${file} is not ${expected}. Fix it or remove it.`,
  );
