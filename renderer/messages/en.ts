/** All texts of the window in English, one file per screen. Other languages have the same shape (`Messages`). */
import { cassettes } from './en/cassettes.ts';
import { connect, keyChooser } from './en/connect.ts';
import { controlProblems } from './en/control-problems.ts';
import { faults } from './en/faults.ts';
import { groups, sortable } from './en/groups.ts';
import { health } from './en/health.ts';
import { inspector } from './en/inspector.ts';
import { createKey, keys, secret } from './en/keys.ts';
import { limits } from './en/limits.ts';
import { models } from './en/models.ts';
import { attention, demoNote, firstCall, firstRun, live, overview, status } from './en/overview.ts';
import { palette, shortcuts } from './en/palette.ts';
import { account, audit, joining, ownUsage, people, signIn, tokens } from './en/people.ts';
import { playground } from './en/playground.ts';
import { prices } from './en/prices.ts';
import { probe } from './en/probe.ts';
import { providers } from './en/providers.ts';
import { requests } from './en/requests.ts';
import { sessions } from './en/sessions.ts';
import { settings } from './en/settings.ts';
import { shell } from './en/shell.ts';
import { team } from './en/team.ts';
import { timedCapture } from './en/timed-capture.ts';

export const en = {
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

export type Messages = typeof en;
