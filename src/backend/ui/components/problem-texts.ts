export const problemTexts = {
  unexpected: 'The server sent an unexpected response',
  changed: 'Someone else changed this in the meantime. Compare with the current values, then save again.',
  network: 'The server cannot be reached. Check your connection and try again.',
  proxy: (status: number) => `The proxy responded with ${status}`,
  proxyPage: 'The proxy responded with its own page',
  proxyHint: 'The response did not come from Waypost. Try again in a moment.',
  part: 'A part of this page could not be loaded.',
  partAgain: 'The server can be reached. Try again.',
  newer: 'The server has been updated since you opened this page. Save or copy what you typed, then reload the page.',
  retry: 'Try again',
  crash: 'This page failed',
  crashText: 'Reload the page. If it fails again, report the message below.',
  reload: 'Reload',
  notFound: 'Page not found',
  notFoundText: 'Check the address, or go to the overview.',
  home: 'Go to the overview',
  forbidden: 'A scope is missing',
  forbiddenText: (scopes: readonly string[]) => `This page needs the scope ${scopes.join(' or ')}.`,
  noPages: (own: readonly string[], scope: string) =>
    `Your ${own.length === 1 ? 'scope' : 'scopes'} ${own.join(' and ')} ${own.length === 1 ? 'works' : 'work'} with the admin API and with deployments. The pages also need ${scope}.`,
  grant:
    'A user with backend.admin can grant it on the page Users, or an operator with the command below. Then reload this page.',
} as const
