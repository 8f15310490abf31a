import { stepTexts } from '../../../server/contract/clients/step-texts.ts';
import type { AuditActions } from './audit-actions.ts';

/** The choice of the key that a screen calls the gateway with. */
export const keyChooser = {
  key: 'Key',
  model: 'Model',
  none: 'No usable key',
  secret: 'Secret of the key',
  notKept: 'It was not stored and cannot be shown. Paste it here; it is cleared when you leave this screen.',
  showEntered: 'Show input',
};

export const connect = {
  lead: 'Choose a key, a model and a client. The steps are filled in for you.',
  showSecret: 'Show key in snippets',
  hideSecret: 'Hide key',
  clients: 'Clients',
  kinds: { programs: 'Terminal and libraries', coding: 'Editors and agents', apps: 'Applications' },
  stepsOf: (client: string) => `Steps for ${client}`,
  snippetOf: (client: string) => `snippet for ${client}`,

  keyIsCopied: (placeholder: string) => `Copying puts your key in place of ${placeholder}.`,
  keyIsYours: (placeholder: string) => `Put your key in place of ${placeholder}.`,

  test: 'Send a test request',
  testPassed: (model: string, duration: string) => `Works: ${model} answered in ${duration}.`,
  testRefused: (model: string, status: number, message: string) => `${model} failed with ${status}: ${message}`,
  testUnreachable: 'The gateway did not answer.',

  applyTitle: 'Set up automatically',
  applyLead: (files: string) => `Sluice can write ${files} for you. You see the change before anything is written.`,
  applied: (model: string, ago: string) => `Set up for ${model} ${ago}.`,
  appliedWithOldKey: (client: string) =>
    `${client} still has an old key, which no longer works: its requests are refused.`,
  giveKey: (key: string) => `Give it the key “${key}”…`,
  settingOfEnvironment: (setting: string) => `${setting} of the environment`,
  settingIn: (setting: string, place: string) => `${setting} in ${place}`,
  appliedInVain: (model: string, preferred: string) =>
    `Written for ${model}, but not in effect: the client prefers ${preferred}. Remove what is named, or ask whoever manages it to do so.`,
  overruled: (preferred: string) => `The client would prefer ${preferred}, so the change takes that out.`,
  stronger: (preferred: string) =>
    `The client will not use Sluice yet: it prefers ${preferred}, which this change leaves as it is.`,
  reviewChange: 'Review change…',
  undo: 'Undo…',
  apply: 'Apply',
  undoNow: 'Undo',
  applyDialog: (client: string) => `Change for ${client}`,
  undoDialog: (client: string) => `Undo for ${client}`,
  actions: { create: 'new file', change: 'changed', remove: 'removed', none: 'no change' },
  filesGone: 'The file is gone, so there is nothing to undo.',
  keyInEnvironment: 'Start it with the key in its environment:',
  keyFromVariable: (variable: string) => `The key does not go into the file: it is read from ${variable}.`,
  keyInFile: 'The key goes into the file, which then only you can read.',
  keyInOwnFile: (path: string) =>
    `The client reads the key from ${path}, which only you can read. The file goes when you undo this or revoke the key.`,
  openTerminal: 'Open a terminal with this key',
  openTerminalHint: 'What you start in that terminal finds Sluice and this key. The key is in its environment only.',
  terminalCommand: 'Or open a terminal that has the key in its environment:',
  backup: 'Sluice keeps a backup and can undo this later without losing your other changes.',
  testFollows: (model: string) => `Afterwards it sends one short test request to ${model}.`,

  arrived: (ago: string) => `It sent a request ${ago}.`,
  arrivedByKey: (ago: string, client: string) => `This key was used ${ago} by “${client}”.`,
  arrivedAndRefused: (ago: string) => `It sent a request ${ago}, which was rejected.`,
  waiting: 'Waiting for its first request. It shows here as soon as it arrives.',
  waitingByKey: 'Waiting for the first request with this key. It shows here as soon as it arrives.',
  hasArrived: 'has sent a request',
  notTold: 'Its requests do not name the program, so any request with this key counts.',

  steps: stepTexts,
};

export const connectActions: AuditActions<'connect'> = {
  'connect.apply': () => 'changed a program’s configuration file',
  'connect.undo': () => 'undid a change to a program’s configuration file',
};
