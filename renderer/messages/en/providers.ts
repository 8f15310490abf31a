export const providers = {
  title: 'Providers',
  switch: (name: string) => `Use provider ${name}`,
  demo: 'demo',
  demoName: 'Sluice demo',
  demoDetail: 'Built in. Invents its answers.',
  modelCount: (models: number, count: string) => `${count} ${models === 1 ? 'model' : 'models'}`,
  anyModel: 'any model',
  noModels: 'no models known yet',
  demoNotRunning: 'The demo is switched on but does not run.',
  emptyTitle: 'No providers',
  emptyNext: 'Requests have nowhere to go. Add a provider in the terminal:',
};
