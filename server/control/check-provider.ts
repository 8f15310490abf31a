import { demoProviderId, type ProviderConfig } from '../contract/config.ts';
import { controlError } from '../contract/control-error.ts';
import type { ControlProblem } from '../contract/control-problem.ts';
import { isSecretHeader } from '../contract/secret-header.ts';
import { hasUserInfo } from '../contract/secret-shape.ts';
import { leadsBack } from '../routing/compile.ts';

/**
 * Refuses with `invalid_command` what the schema cannot see: loops, and secrets where they would lie open. Those belong into
 * credentials, which are kept apart and shown nowhere.
 */
export function checkProvider(provider: ProviderConfig, ownAddresses: ReadonlySet<string>): void {
  const refuse = (param: string, problem: ControlProblem) => {
    throw controlError('invalid_command', problem, param);
  };
  if (provider.id === demoProviderId) refuse('id', { code: 'id-of-demo', id: demoProviderId });
  const url = new URL(provider.baseUrl);
  if (leadsBack(url, ownAddresses)) refuse('baseUrl', { code: 'leads-back', host: url.host });
  if (hasUserInfo(provider.baseUrl)) refuse('baseUrl', { code: 'password-in-base-url' });
  if (url.search || url.hash) refuse('baseUrl', { code: 'query-in-base-url' });
  if (hasUserInfo(provider.proxy)) refuse('proxy', { code: 'password-in-proxy' });
  const header = Object.keys(provider.headers).find(isSecretHeader);
  if (header) refuse('headers', { code: 'secret-in-header', header });
}
