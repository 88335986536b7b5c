import { describe, expect, test } from 'vitest';
import { isControlFile } from '../../../src/policy/paths/is-control-file.js';
import { isSecretFile } from '../../../src/policy/paths/is-secret-file.js';

const lines = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

describe('a secret file', () => {
  test.each(
    lines(`
      /repo/.env
      /repo/.env.local
      /repo/.env-prod
      /repo/.env~
      /repo/.env.bak
      /repo/app/.ENV
      /repo/prod.env
      /repo/.envrc
      /home/ada/.ssh
      /home/ada/.ssh/id_ed25519
      /home/ada/.ssh/config
      /home/ada/.aws/credentials
      /home/ada/.aws/config
      /home/ada/.gnupg/private-keys-v1.d/a.key
      /home/ada/.netrc
      /home/ada/_netrc
      /repo/.npmrc
      /home/ada/.pypirc
      /home/ada/.docker/config.json
      /home/ada/.kube/config
      /home/ada/.kube/prod/config.yaml
      /home/ada/.config/gcloud/application_default_credentials.json
      /home/ada/.config/gh/hosts.yml
      /home/ada/.git-credentials
      /home/ada/.config/git/credentials
      /home/ada/Library/Keychains/login.keychain-db
      /home/ada/.local/share/keyrings/login.keyring
      /home/ada/.mozilla/firefox/x.default/logins.json
      /home/ada/.config/google-chrome/Default/Cookies
      /home/ada/Library/Application Support/Google/Chrome/Default/Login Data
      /repo/server.pem
      /repo/tls.key
      /repo/store.p12
      /repo/store.PFX
      /repo/app.jks
      /repo/id_rsa
      /repo/id_ecdsa.old
      /repo/service-account.json
      /repo/prod-service_account-7.json
      /repo/client_secret_12.apps.json
      /repo/credentials.json
      /repo/config/secrets.yml
      /repo/terraform.tfstate
      /repo/terraform.tfstate.backup
      /repo/prod.tfvars
      /home/ada/.terraform.d/credentials.tfrc.json
      /home/ada/.pgpass
      /home/ada/.my.cnf
      /home/ada/.vault-token
      /home/ada/.cargo/credentials.toml
      /home/ada/.m2/settings.xml
      /home/ada/.bash_history
      /home/ada/.password-store/mail.gpg
      /home/ada/.claude/.credentials.json
      /proc/self/environ
      /proc/1/task/1/environ
      /proc/17/mem
      /proc/kcore
      /dev/mem
      /etc/shadow
      /etc/sudoers.d/ada
      /etc/ssh/ssh_host_rsa_key
      /run/secrets/db
      /var/run/secrets/kubernetes.io/serviceaccount/token
    `),
  )('is %s', (path) => {
    expect(isSecretFile(path)).toBe(true);
  });

  test.each(
    lines(`
      /repo/.env.example
      /repo/.env.local.example
      /repo/.env.sample
      /repo/.env.template
      /repo/example.env
      /repo/.environment
      /repo/.envoy.yaml
      /repo/src/env.ts
      /repo/src/key.ts
      /repo/src/keyboard.ts
      /repo/src/tokens.css
      /repo/design/tokens.json
      /repo/docs/environment.md
      /repo/docs/secrets.md
      /repo/src/secrets.ts
      /repo/src/credentials.ts
      /repo/src/password-field.tsx
      /repo/src/service-account.ts
      /repo/id_rsa.pub
      /home/ada/.ssh/id_ed25519.pub
      /repo/public.pem
      /repo/jwt-public.key
      /repo/cacert.pem
      /repo/terraform.tf
      /repo/prod.tfvars.example
      /repo/src/id_card.ts
      /repo/src/aws/client.ts
      /repo/docs/.ssh.md
      /repo/kube/config.ts
      /repo/monkey.md
      /repo/package.json
      /etc/passwd
      /etc/hosts
      /proc/self/status
      /proc/cpuinfo
    `),
  )('is not %s', (path) => {
    expect(isSecretFile(path)).toBe(false);
  });

  test.each([
    '/repo/.env.',
    '/repo/.env ',
    '/repo/.env. . ',
    '/repo/.env::$DATA',
    '/repo/.ENV:stream',
    '/home/ada/.\u017fsh/id',
    '/home/ada/.s\u200csh/id',
    '/home/ada/.ss\ufeffh./id',
    '/home/ada/.\u212aube/config',
    '/repo/server.pem.',
  ])('is detected in a spelling that some disks treat as equal: %j', (path) => {
    expect(isSecretFile(path)).toBe(true);
  });

  test('is detected in linear time', () => {
    for (const bit of ['. ', '.env', ':', '/.config', 'service-account', '\u200c']) {
      expect(typeof isSecretFile(`/${bit.repeat(200_000)}x`)).toBe('boolean');
      expect(typeof isControlFile(`/${bit.repeat(200_000)}x`)).toBe('boolean');
    }
  });
});

describe('a control file of agents', () => {
  test.each(
    lines(`
      /repo/.claude/settings.json
      /repo/.CLAUDE/Settings.Local.json
      /repo/.skein/settings.json
      /repo/.claude/hooks/check.sh
      /repo/.mcp.json
      /etc/skein/managed-settings.json
      /repo/.git
      /repo/.git/hooks
      /repo/.git/hooks/pre-push
      /repo/.git/config
      /repo/.git./config
      /repo/GIT~1/config
      /repo/.g\u200cit/hooks/pre-commit
      /repo/.git/modules/x/hooks/post-checkout
      /repo/.husky/pre-commit
      /home/ada/.gitconfig
      /home/ada/.bashrc
      /home/ada/.zshenv
    `),
  )('is %s', (path) => {
    expect(isControlFile(path)).toBe(true);
  });

  test.each(
    lines(`
      /repo/.gitignore
      /repo/.github/workflows/ci.yml
      /repo/src/hooks/use-thing.ts
      /repo/settings.json
      /repo/.claude/agents/reviewer.md
      /repo/config
    `),
  )('is not %s', (path) => {
    expect(isControlFile(path)).toBe(false);
  });
});
