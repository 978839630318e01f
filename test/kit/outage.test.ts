import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineErrors, watchOutage } from '../../src/kit/index.ts'

const errors = defineErrors({
  WP_TEST_AWAY: { kind: 'external', status: 503, message: 'away: {reason}' },
  WP_TEST_WRONG: { kind: 'user', status: 500, message: 'wrong: {what}' },
})

test('an outage is reported when it begins and when it ends, whatever the reason of each attempt', () => {
  const told: string[] = []
  const outage = watchOutage({
    onFailed: (error) => told.push((error as Error).message),
    onSucceeded: () => told.push('again'),
  })
  outage.succeeded()
  for (const reason of ['refused', 'starting', 'refused']) outage.failed(errors.WP_TEST_AWAY({ reason }))
  outage.failed(errors.WP_TEST_WRONG({ what: 'a setting' }))
  outage.failed(errors.WP_TEST_WRONG({ what: 'another' }))
  outage.failed(errors.WP_TEST_AWAY({ reason: 'refused' }))
  outage.failed(errors.WP_TEST_WRONG({ what: 'a setting' }))
  outage.succeeded()
  outage.succeeded()
  outage.failed(errors.WP_TEST_AWAY({ reason: 'refused' }))
  assert.deepEqual(told, ['away: refused', 'wrong: a setting', 'wrong: another', 'again', 'away: refused'])
})
