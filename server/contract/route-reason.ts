/** Why a provider is asked for a model, or why it is excluded. */
export type RouteReason =
  | { code: 'alias' | 'own-alias'; alias: string }
  | { code: 'addressed' | 'listed' | 'any-name' }
  | { code: 'not-in-group' | 'not-allowed'; group: string }
  | { code: 'not-on-key'; key: string }
  | { code: 'not-in-alias' | 'not-in-own-alias'; alias: string }
  /** `reason`: why the provider receives no requests. */
  | { code: 'unusable'; reason: string }
  | { code: 'other-addressed'; provider: string }
  | { code: 'not-served' };

export function describeRouteReason(reason: RouteReason): string {
  switch (reason.code) {
    case 'alias':
      return `the alias "${reason.alias}" leads to it`;
    case 'own-alias':
      return `the key's own alias "${reason.alias}" leads to it`;
    case 'addressed':
      return 'the model name addresses it';
    case 'listed':
      return 'it serves this model';
    case 'any-name':
      return 'it takes any model name';
    case 'not-in-group':
      return `group "${reason.group}" may not use it`;
    case 'not-allowed':
      return `group "${reason.group}" does not allow this model name`;
    case 'not-on-key':
      return `the list of key "${reason.key}" does not allow this model name`;
    case 'not-in-alias':
      return `the alias "${reason.alias}" does not lead to it`;
    case 'not-in-own-alias':
      return `the key's own alias "${reason.alias}" does not lead to it`;
    case 'unusable':
      return reason.reason;
    case 'other-addressed':
      return `the model name addresses provider "${reason.provider}"`;
    case 'not-served':
      return 'it is not known to serve this model';
  }
}
