/** The texts of a probe in English, for command line and window. */
import type { TextsOf } from './coded.ts';
import type { ProbeFindings, ProbeRemedies } from './probe.ts';

export const findingTexts: TextsOf<ProbeFindings> = {
  'dns-passed': () => 'the host name is known',
  'proxy-passed': () => 'the proxy lets it through',
  'connection-passed': () => 'a connection can be opened',
  'tls-passed': () => 'the connection is secure',
  'base-url-passed': () => 'an API answers there',
  'credential-passed': () => 'the credential is accepted',
  'quota-passed': () => 'nothing says that a limit is reached',
  'models-passed': () => 'it lists its models',
  'not-reached': () => 'not reached',
  'proxy-looks-up': ({ host }) => `the proxy looks up ${host}`,
  'is-address': ({ host }) => `${host} is an address`,
  'no-proxy': () => 'there is none on the way',
  'not-encrypted': () => 'the base URL is http, so nothing is encrypted',
  'way-failed': ({ detail }) => detail,
  'web-page': ({ status }) => `a web page answers there (${status}), not an API`,
  redirected: ({ to }) => `it redirects to ${to ?? 'another address'}`,
  'no-model-list': ({ status }) => `there is no model list at this address (${status})`,
  'not-a-list': () => 'what answers there is not a list of models',
  'not-understood': ({ status }) => `it does not understand the request for its models (${status})`,
  'list-not-offered': ({ status }) =>
    `the service has no model list (${status}), so this cannot be found out without a paid call`,
  'may-not-list': ({ status }) =>
    `the credential may not list models (${status}); whether it may use them cannot be found out without a paid call`,
  'credential-wanted': ({ status }) => `it asks for a credential (${status})`,
  'credential-refused': ({ status, credential }) => `it does not accept the credential "${credential}" (${status})`,
  'credential-allows-nothing': ({ status, credential }) =>
    `it does not allow anything to the credential "${credential}" (${status})`,
  'no-credential-needed': () => 'none is configured, and it asks for none',
  'open-to-all': () => 'the model list is open to all, so the credential was not tested',
  answered: ({ status }) => `it answered ${status}`,
  'not-so-far': () => 'the service did not get so far',
  listed: ({ models }) => countOf(models),
  'model-not-listed': ({ model, models }) => `"${model}" is not among its ${countOf(models)}`,
  'call-passed': () => 'a model answers',
  'answered-with': ({ model, elapsedMs }) => `"${model}" answered in ${elapsedMs} ms`,
  'call-answered': ({ model, status }) => `a call to "${model}" was answered with ${status}`,
  'call-not-understood': ({ model }) => `what "${model}" answered is not an answer of this API`,
  'call-unpriced': () => 'no model was called: none is known to cost less than a cent for it',
  'call-impossible': () => 'no model was called: it has none for conversations',
};

export const remedyTexts: TextsOf<ProbeRemedies> = {
  'check-host': ({ host }) => `Check the spelling of "${host}" in the base URL, and whether this machine is online.`,
  'check-proxy': () =>
    'Check the proxy’s address, name and password, and whether it may reach this host; or set the provider’s proxy to "direct".',
  'use-name-of-certificate': () => 'The certificate is for another name. Use the host name that it is for.',
  'check-clock': () => 'Check this machine’s clock; else the service has to renew its certificate.',
  'add-authority': () =>
    'If you know the issuer (a company’s proxy, your own server), add its certificate to settings.extraCaFiles.',
  'use-http': () => 'Check whether the service speaks https on this port; if not, use http in the base URL.',
  'check-port': () => 'What answers there is not an HTTP API. Check port and scheme of the base URL.',
  'wait-for-answer': () => 'It accepts connections but does not answer. It may be overloaded or still loading a model.',
  'check-service': ({ host, port }) =>
    `Check whether the service runs and listens on ${host}:${port}, and whether a firewall is between.`,
  'set-base-url': ({ baseUrl }) => `Set the base URL to ${baseUrl}: an API answers there.`,
  'set-base-url-to-target': () => 'Set the base URL to where the API really is.',
  'check-base-url': () => 'Check the base URL against the documentation of the service.',
  'add-version': () => 'Check the base URL: with most services it ends in /v1.',
  'add-credential': () => 'Add a credential to this provider.',
  'check-credential': () => 'Check that it was copied whole, belongs to this service and has not been revoked.',
  pay: () => 'The account has to be paid for: look at the billing page of the service.',
  'wait-or-raise-limits': () =>
    'A rate limit or the account’s quota is reached: wait, or look at the limits and the billing page of the service.',
  'try-later': () => 'The service has a fault of its own. Try again later.',
  'check-model': () => 'Check the name’s spelling, or whether this credential may use it.',
  'choose-model': () => 'Test it with another model, or look at what the service said.',
};

function countOf(models: number): string {
  return `${models} ${models === 1 ? 'model' : 'models'}`;
}
