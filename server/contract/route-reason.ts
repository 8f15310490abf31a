/** Why a provider is asked for a model, or why it is excluded. */
export type RouteReason =
  | { code: 'alias'; alias: string }
  | { code: 'addressed' | 'listed' | 'any-name' }
  | { code: 'not-in-group' | 'not-allowed'; group: string }
  | { code: 'not-on-key'; key: string }
  | { code: 'not-in-alias'; alias: string }
  /** `reason`: why the provider receives no requests. */
  | { code: 'unusable'; reason: string }
  | { code: 'other-addressed'; provider: string }
  | { code: 'not-served' };

export function describeRouteReason(why: RouteReason): string {
  switch (why.code) {
    case 'alias':
      return `the alias "${why.alias}" leads to it`;
    case 'addressed':
      return 'the model name addresses it';
    case 'listed':
      return 'it serves this model';
    case 'any-name':
      return 'it takes any model name';
    case 'not-in-group':
      return `group "${why.group}" may not use it`;
    case 'not-allowed':
      return `group "${why.group}" does not allow this model name`;
    case 'not-on-key':
      return `the list of key "${why.key}" does not allow this model name`;
    case 'not-in-alias':
      return `the alias "${why.alias}" does not lead to it`;
    case 'unusable':
      return why.reason;
    case 'other-addressed':
      return `the model name addresses provider "${why.provider}"`;
    case 'not-served':
      return 'it is not known to serve this model';
  }
}
