// The process that floods a server with logins, for `bench/logins.ts`.
import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'

const atOnce = 32
const pool = new Pool(`http://127.0.0.1:${process.argv[2]}`, { connections: atOnce })
let isOn = false
let count = 0
let callers: Promise<void>[] = []

async function callAgain(): Promise<void> {
  while (isOn) {
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
  isOn = order === 'start'
  if (isOn) callers = Array.from({ length: atOnce }, callAgain)
  else
    void Promise.all(callers)
      .then(() => process.send!(count))
      .then(() => (count = 0))
})
