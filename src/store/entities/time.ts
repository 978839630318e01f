import { p } from '@mikro-orm/core'

/** A time: milliseconds since 1970, by the database's clock. */
export const time = () => p.bigint('number')
