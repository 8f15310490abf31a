import type * as english from '../en/providers.ts';

export const providers: typeof english.providers = {
  title: '提供方',
  switch: (name) => `启用提供方 ${name}`,
  demo: '演示',
  demoName: 'Sluice 演示',
  demoDetail: '内置，回答均为虚构。',
  modelCount: (_models, count) => `${count} 个模型`,
  anyModel: '任意模型',
  noModels: '尚不知道有哪些模型',
  demoNotRunning: '演示已启用，但没有运行。',
  emptyTitle: '没有提供方',
  emptyNext: '请求无处可去。请在终端中添加提供方：',
};
