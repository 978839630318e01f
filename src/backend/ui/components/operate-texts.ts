import { numbers } from './format.ts'

export const operateTexts = {
  since: 'Since',
  spans: { '1h': 'Last hour', '24h': 'Last 24 hours', '7d': 'Last 7 days', '30d': 'Last 30 days' },
  status: 'Status',
  statuses: {
    pending: 'pending',
    retrying: 'retrying',
    delivered: 'delivered',
    dead: 'dead',
    cancelled: 'cancelled',
    active: 'active',
    paused: 'paused',
    disabled: 'disabled',
    postponed: 'postponed',
  },
  event: 'Event',
  endpoint: 'Endpoint',
  user: 'User',
  client: 'Client',
  created: 'Created',
  id: 'ID',
  deleted: 'deleted',
  none: '–',
  count: (count: number) => (count >= 10_000 ? '10,000 or more' : numbers.format(count)),
} as const
