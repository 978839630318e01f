import { randomBytes } from 'node:crypto'
import { sha256 } from '../../kit/index.ts'

/** Links that sign a user in once; for `dev`, which shows them in its terminal. */
export interface SignInLinks {
  /** Returns the key of a new link. */
  make(userId: string): string
  /** Returns the user of a link, once. */
  redeem(key: string): string | undefined
}

const maxLinks = 100

/** Makes the links of one process. They end with it. */
export function makeSignInLinks(): SignInLinks {
  const users = new Map<string, string>()
  return {
    make(userId) {
      const key = randomBytes(16).toString('base64url')
      users.set(sha256(key), userId)
      const [oldest] = users.keys()
      if (users.size > maxLinks && oldest !== undefined) users.delete(oldest)
      return key
    },
    redeem(key) {
      const hash = sha256(key)
      const user = users.get(hash)
      users.delete(hash)
      return user
    },
  }
}
