import type { Messages } from './en.ts';
import { connect, keyChooser } from './zh/connect.ts';
import { createKey, keys, secret } from './zh/keys.ts';
import { status } from './zh/overview.ts';
import { providers } from './zh/providers.ts';
import { requests } from './zh/requests.ts';
import { settings } from './zh/settings.ts';
import { shell } from './zh/shell.ts';

/** Simplified Chinese. */
export const zh: Messages = {
  ...shell,
  connect,
  keyChooser,
  status,
  providers,
  keys,
  createKey,
  secret,
  requests,
  settings,
};
