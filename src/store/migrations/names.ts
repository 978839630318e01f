/** Names of Waypost's own migrations, oldest first. This version requires exactly these in System. */
export const systemMigrations: readonly string[] = [
  '0001-initial-tables',
  '0002-authorization-code',
  '0003-events',
  '0004-fewer-indexes',
  '0005-releases',
  '0006-failing-since',
  '0007-subscription-clients',
  '0008-one-source',
  '0009-attempt-shards',
  '0010-audit',
  '0011-operators',
  '0012-backend-client',
  '0013-statistics',
  '0014-activation-files',
  '0015-variables',
  '0016-delivery-details',
]
