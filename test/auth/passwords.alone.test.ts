import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashPassword, isPassword } from '../../src/auth/account/passwords.ts'

/** A System whose data somebody needs. */
const kept = { isDisposable: false }

test('a name that nobody has takes as long as a wrong password', async () => {
  const stored = await hashPassword(kept, { name: 'ann', password: 'correct horse' })
  const measure = async (hash: string | undefined) => {
    const began = performance.now()
    await isPassword(kept, 'wrong horse', hash)
    return performance.now() - began
  }
  const samples: { known: number[]; unknown: number[] } = { known: [], unknown: [] }
  for (let round = 0; round < 15; round++) {
    samples.known.push(await measure(stored))
    samples.unknown.push(await measure(undefined))
  }
  const [known, unknown] = [median(samples.known), median(samples.unknown)]
  assert.ok(unknown > known / 2 && unknown < known * 2, `known ${known} ms, unknown ${unknown} ms`)
})

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}
