import type { Messages } from './en.ts';
import { cassettes } from './zh/cassettes.ts';
import { connect, keyChooser } from './zh/connect.ts';
import { controlProblems } from './zh/control-problems.ts';
import { faults } from './zh/faults.ts';
import { groups, sortable } from './zh/groups.ts';
import { health } from './zh/health.ts';
import { inspector } from './zh/inspector.ts';
import { createKey, keys, secret } from './zh/keys.ts';
import { limits } from './zh/limits.ts';
import { models } from './zh/models.ts';
import { attention, demoNote, firstCall, firstRun, live, overview, status } from './zh/overview.ts';
import { palette, shortcuts } from './zh/palette.ts';
import { account, audit, joining, ownUsage, people, signIn, tokens } from './zh/people.ts';
import { playground } from './zh/playground.ts';
import { prices } from './zh/prices.ts';
import { probe } from './zh/probe.ts';
import { providers } from './zh/providers.ts';
import { requests } from './zh/requests.ts';
import { sessions } from './zh/sessions.ts';
import { settings } from './zh/settings.ts';
import { shell } from './zh/shell.ts';
import { team } from './zh/team.ts';
import { timedCapture } from './zh/timed-capture.ts';

/** Simplified Chinese. */
export const zh: Messages = {
  ...shell,
  account,
  audit,
  joining,
  ownUsage,
  people,
  signIn,
  tokens,
  connect,
  controlProblems,
  keyChooser,
  live,
  overview,
  firstRun,
  firstCall,
  demoNote,
  attention,
  status,
  prices,
  providers,
  probe,
  keys,
  createKey,
  secret,
  models,
  cassettes,
  faults,
  groups,
  health,
  limits,
  sortable,
  requests,
  inspector,
  sessions,
  settings,
  playground,
  palette,
  shortcuts,
  team,
  timedCapture,
};
