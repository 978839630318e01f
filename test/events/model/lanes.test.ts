// Random interleavings of several workers with what can go wrong around them, and faults in the code that this must find.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import path from 'node:path'
import { describe, test } from 'node:test'
import { isLong } from '../../support/forms.ts'
import { mutants } from './mutants.ts'

/** @returns what the model has found in some seeds; empty if nothing */
function run(...words: readonly string[]): Promise<string> {
  const file = path.join(import.meta.dirname, 'run.ts')
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [file, ...words], (error, stdout, stderr) => {
      if (error === null || (error.code === 1 && stdout !== '')) resolve(stdout)
      else reject(new Error(stderr, { cause: error }))
    })
  })
}

describe('lanes', () => {
  const first = isLong ? randomInt(90_000) : 1
  const count = isLong ? 4000 : 2

  test(`keep their promises in the seeds from ${first} on`, async () => {
    assert.equal(await run(`${first}`, `${count}`), '')
  })

  for (const [name, { faults, isLong: needsLong = false, seed = 1 }] of Object.entries(mutants)) {
    test(`would not if ${name}`, { skip: needsLong && !isLong && 'long form' }, async () => {
      assert.match(await run(`${seed}`, '200', `--mutant=${name}`, `--faults=${faults.join(',')}`), /^seed \d+/)
    })
  }
})
