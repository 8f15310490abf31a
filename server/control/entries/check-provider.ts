import { demoProviderId, type ProviderConfig } from '../../contract/config.ts';
import { controlError } from '../../contract/control-error.ts';
import type { ControlProblem } from '../../contract/control-problem.ts';
import { hasUserInfo, isSecretHeader } from '../../contract/secret-shape.ts';
import { isVendorHost } from '../../providers/presets.ts';
import { isOwnAddress } from '../../routing/compile.ts';

/**
 * Throws `invalid_command` for errors that the schema cannot detect: loops, and secrets outside of credentials, where
 * they would be stored and shown in plain text.
 */
export function checkProvider(provider: ProviderConfig, ownAddresses: ReadonlySet<string>): void {
  const refuse = (param: string, problem: ControlProblem) => {
    throw controlError('invalid_command', problem, param);
  };
  if (provider.id === demoProviderId) refuse('id', { code: 'id-of-demo', id: demoProviderId });
  const url = new URL(provider.baseUrl);
  if (isOwnAddress(url, ownAddresses)) refuse('baseUrl', { code: 'leads-back', host: url.host });
  if (hasUserInfo(provider.baseUrl)) refuse('baseUrl', { code: 'password-in-base-url' });
  if (url.search || url.hash) refuse('baseUrl', { code: 'query-in-base-url' });
  if (hasUserInfo(provider.proxy)) refuse('proxy', { code: 'password-in-proxy' });
  if (provider.certificate && isVendorHost(url.hostname))
    refuse('certificate', { code: 'certificate-of-vendor', host: url.hostname });
  const header = Object.keys(provider.headers).find(isSecretHeader);
  if (header) refuse('headers', { code: 'secret-in-header', header });
}
