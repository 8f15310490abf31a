import type { account as englishAccount, signIn as englishSignIn } from '../en/people.ts';

export const signIn: typeof englishSignIn = {
  title: '登录 Sluice',
  titleEnded: '你已退出登录',
  lead: '使用你所在组织的账号登录。',
  button: '登录',
  noRole: '你在此 Sluice 中还没有角色。请让管理员添加你所在的组，然后重新登录。',
  tooMany: '登录尝试过多。请等一分钟后重试。',
  failed: '登录未成功，请重试。如果再次出现，请联系管理员。',
  note: '无论是否登录，你的密钥都照常可用。',
};

export const account: typeof englishAccount = {
  label: '账号',
  admin: '管理员',
  manager: (groups) => `${groups} 的负责人`,
  member: (groups) => `${groups} 的成员`,
  signOut: '退出登录',
};
