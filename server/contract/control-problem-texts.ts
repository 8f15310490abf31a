/** The control plane's errors in English, for command line, API and window. */
import type { TextsOf } from './coded.ts';
import type { ControlProblems } from './control-problem.ts';

const jsonExtras: Record<string, string> = {
  comment: 'comment',
  comma: 'comma after the last element',
  mark: 'byte order mark',
};
const asking = (contact: string | null) => (contact === null ? '' : ` Ask ${contact}.`);

export const controlProblemTexts: TextsOf<ControlProblems> = {
  'no-provider': ({ id }) => `There is no provider "${id}".`,
  'no-key': ({ id }) => `There is no key "${id}".`,
  'no-group': ({ id }) => `There is no group "${id}".`,
  'no-alias': ({ id }) => `There is no alias "${id}".`,
  'no-preset': ({ id }) => `There is no preset "${id}".`,
  'no-credential': ({ id }) => `There is no credential "${id}".`,
  'request-runs': ({ id }) => `Request "${id}" still runs. Pin it once it has ended.`,
  'too-many-pins': ({ most }) => `No more than ${most} can be pinned. Unpin one first.`,
  'no-session': ({ id }) => `There is no session "${id}" in the request log.`,
  'no-request': ({ id }) => `There is no request "${id}" in the request log.`,
  'changed-meanwhile': () =>
    'The configuration was changed by someone else in the meantime. Review it and repeat the change.',
  'file-changed': ({ path }) =>
    `${path} was changed by another program while Sluice was running. Restart Sluice to use it, then repeat the change.`,
  'not-written': ({ path, reason }) => `${path} cannot be written: ${reason}. The configuration is unchanged.`,
  'read-only': () =>
    'The configuration comes from a file that Sluice does not write: change that file, and Sluice reads it again.',
  'not-allowed': () => 'You are not allowed to do this. An administrator of this Sluice can.',
  'host-reference': ({ reference }) =>
    `"${reference}" is of the machine that Sluice runs on, and not for people who sign in. Whoever runs that machine can do this there, or list it in "people.hostReferences".`,
  'no-role': ({ name }) => `${name} has no role in this Sluice. An administrator can give one to a group of yours.`,
  'not-assigned': ({ name }) =>
    `${name} is not assigned to this Sluice. An administrator of the identity provider can assign it to them.`,
  'no-sign-in': () => 'Nobody signs in to this Sluice: that needs "serve --public-url" and the setting "people".',
  'gateway-address-wrong': ({ address }) => `"${address}" is no address of a gateway: use https://gateway.example`,
  'gateway-away': ({ address, reason }) => `${address} does not answer: ${reason}.`,
  'gateway-not-sluice': ({ address, status }) => `${address} is no Sluice where people sign in (status ${status}).`,
  'joined-already': ({ origin }) => `This Sluice has joined ${origin} already.`,
  'joining-expired': () => 'The code has expired. Start over.',
  'no-group-there': ({ origin }) => `You may have no key at ${origin}. An administrator there can add you to a group.`,
  'token-without-person': () => 'An API token belongs to a person: sign in first, in a browser or with "sluice login".',
  'no-token': ({ id }) => `There is no API token "${id}".`,
  'no-person': ({ id }) => `There is no person "${id}".`,
  'scope-missing': ({ scope }) => `This API token lacks the scope ${scope}.`,
  'id-taken': ({ id }) => `"${id}" is taken: choose another id.`,
  'id-of-demo': ({ id }) => `"${id}" is the built-in demo provider: choose another id.`,
  'demo-by-setting': () => 'The built-in demo provider is switched by the setting "demo" only.',
  'base-url-missing': () => 'Give a preset or a base URL.',
  'base-url-unfilled': ({ baseUrl }) => `Give the base URL with the parts in braces filled in: ${baseUrl}`,
  'leads-back': ({ host }) => `${host} is Sluice itself: requests would loop. Give the service's own address.`,
  'password-in-base-url': () => 'The base URL contains a password. Leave it out and add it as a credential.',
  'query-in-base-url': () => 'The base URL must not have a query or a fragment; Azure’s api-version has its own field.',
  'certificate-of-vendor': ({ host }) =>
    `${host} belongs to a known service, whose certificate must be that of a trusted authority: another one is somebody else’s. If a company’s proxy shows its own, add its authority to settings.extraCaFiles.`,
  'password-in-proxy': () => 'The proxy’s URL contains a password. Set HTTPS_PROXY for Sluice and use "system".',
  'secret-in-header': ({ header }) =>
    `The header "${header}" would be stored in plain text in the configuration: add it as a credential.`,
  'not-for-key': ({ key, model }) => `Key "${key}" may not use "${model}".`,
  'provider-in-use': ({ provider, aliases }) =>
    `Provider "${provider}" is used by aliases: ${aliases}. Change or remove them first.`,
  'group-in-use': ({ group, keys }) => `Group "${group}" is used by keys: ${keys}. Move or revoke them first.`,
  'variable-unusable': ({ variable }) => `The variable ${variable} of Sluice's environment holds no usable credential.`,
  'secret-not-kept': ({ key }) =>
    `The secret of key "${key}" was shown once and not kept. Rotate the key for a new one.`,
  'secret-lost': ({ key }) =>
    `The secret of key "${key}" is missing from the secret store. Rotate the key for a new one.`,
  'no-grace': ({ key }) =>
    `The secret of key "${key}" is set by a reference, so it cannot work beside a new one. Rotate it without a grace period.`,
  'cassette-unusable': ({ reason }) => reason,
  'prices-not-renewed': () => 'Public prices are not read: set "renewPrices" to "ask" or "apply" first.',
  'prices-in-work': () => 'Prices are being read or applied right now. Try again in a moment.',
  'keychain-failed': ({ reason }) => `The OS keychain failed: ${reason}. Unlock or start it and try again.`,
  'hotkey-taken': ({ keys }) => `Another program uses ${keys}, or the system keeps it for itself. Choose other keys.`,
  'no-terminal': ({ reason }) => `No terminal could be opened. ${reason}`,
  'sign-out-not-stored': ({ reason }) =>
    `All browsers are signed out, but that could not be saved: ${reason}. They will be signed in again after a restart; sign out again when the data folder can be written.`,
  'client-not-configurable': ({ client }) =>
    `Sluice does not change the settings of "${client}". "sluice connect" lists the clients that it can set up.`,
  'client-not-connected': ({ client }) => `Sluice has changed nothing in the settings of ${client}.`,
  'client-file-changed': () => 'The file has changed since this preview. Nothing was written: review the change again.',
  'client-file-broken': ({ path, line }) =>
    `${path} has a syntax error in line ${line}. Nothing was written: correct the file and try again.`,
  'client-file-rejected': ({ path, client, extra, line }) =>
    `${client} ignores all of ${path} because of the ${jsonExtras[extra] ?? extra} in line ${line}. Nothing was written: take it out and try again.`,
  'client-file-uneditable': ({ path }) =>
    `${path} is laid out in a way that Sluice cannot edit safely. Nothing was written: follow the steps instead.`,
  'client-file-unreadable': ({ path, reason }) => `${path} cannot be read: ${reason}. Nothing was written.`,
  'client-file-not-written': ({ path, reason }) => `${path} cannot be written: ${reason}. Nothing was changed.`,
  'client-file-outside-home': ({ path }) =>
    `${path} lies outside your home folder. Sluice does not write there: follow the steps instead.`,
  'client-folder-missing': ({ path, file }) =>
    `There is no folder ${path}, where Sluice looks for ${file}. If yours is elsewhere, follow the steps instead.`,
  'adopt-unknown': () =>
    'This is no configuration of Sluice, LiteLLM, claude-code-router or CC Switch, and no file of environment variables.',
  'adopt-syntax': ({ line }) => `This cannot be read: there is a syntax error in line ${line}. Nothing was taken.`,
  'adopt-broken': ({ place, wanted }) =>
    `This cannot be read: at ${place} there should be ${wanted}. Nothing was taken.`,
  'fault-rule-wrong': ({ rule, reason }) => `Rule ${rule}: ${reason}`,
  'fault-rule-unmet': ({ rule, fault, other, instead }) =>
    `Rule ${rule}: "${fault}" is never met, since rule ${other} lets every request meet "${instead}" instead.`,
  'locked-against-adding': ({ part, by, contact }) =>
    `No ${part} can be added: that is set by ${by}.${asking(contact)}`,
  'locked-against-changing': ({ part, name, by, contact }) =>
    `The ${part} "${name}" cannot be changed like this: that is set by ${by}.${asking(contact)}`,
  'locked-against-removing': ({ part, name, by, contact }) =>
    `The ${part} "${name}" cannot be removed like this: that is set by ${by}.${asking(contact)}`,
};
