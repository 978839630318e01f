export const pagesTexts = {
  overview: 'Overview',
  reference: 'API reference',
  operation: 'Operation',
  events: 'Events',
  event: 'Event',
  subscriptions: 'Subscriptions',
  subscription: 'Subscription',
  delivery: 'Delivery',
  clients: 'Clients',
  client: 'Client',
  tokens: 'Tokens',
  grants: 'Connected clients',
  account: 'Account',
} as const

export const shellTexts = {
  signIn: 'Sign in',
  register: 'Create account',
  account: 'Your account',
  signInFirst: 'Sign in to see this page.',
  noConsumer: 'Your account cannot use this page',
  noConsumerText: 'It does not have the scope “consumer”. The operator of this API can grant it.',
  insecure: 'To sign in, open this page over https.',
} as const
