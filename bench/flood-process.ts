// Floods a server with logins, for `bench/logins.ts`.
import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'

const atOnce = 32
const pool = new Pool(`http://127.0.0.1:${process.argv[2]}`, { connections: atOnce })
let flood = new AbortController()
let count = 0
let callers: Promise<void>[] = []

async function callAgain(): Promise<void> {
  while (!flood.signal.aborted) {
    count += 1
    const { statusCode, body } = await pool.request({
      method: 'POST',
      path: '/consumer/login',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: `nobody${process.pid}-${count}`, password: 'wrong password' }),
    })
    await body.dump()
    if (statusCode === 429) await pause(20)
  }
}

process.on('message', (order) => {
  if (order === 'start') {
    flood = new AbortController()
    callers = Array.from({ length: atOnce }, callAgain)
    return
  }
  flood.abort()
  void Promise.all(callers).then(() => {
    process.send!(count)
    count = 0
  })
})
