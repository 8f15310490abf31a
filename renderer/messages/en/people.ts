/** Texts about people who sign in. */
export const signIn = {
  title: 'Sign in to Sluice',
  titleEnded: 'You have been signed out',
  lead: 'Sign in with your organization’s account.',
  button: 'Sign in',
  noRole: 'You have no role in this Sluice yet. Ask an administrator to add a group of yours, then sign in again.',
  tooMany: 'Too many attempts to sign in. Wait a minute, then try again.',
  failed: 'Signing in did not work. Try again. If it happens again, ask an administrator.',
  note: 'Your keys keep working, whether you are signed in or not.',
};

export const account = {
  label: 'Account',
  admin: 'Administrator',
  manager: (groups: string) => `Manager of ${groups}`,
  member: (groups: string) => `Member of ${groups}`,
  signOut: 'Sign out',
};
