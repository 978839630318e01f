/** Every column that holds sealed values, in tables whose rows have an `id`: what `secret:rotate` seals again. */
export const sealedColumns = [
  { table: 'waypost_key', column: 'private_jwk' },
  { table: 'waypost_subscription', column: 'secret' },
  { table: 'waypost_subscription', column: 'previous_secrets' },
] as const

/** One of them; nothing is sealed for another place. */
export type SealedColumn = (typeof sealedColumns)[number]
