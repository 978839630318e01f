import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drawLane, laneCount, shareOf } from '../../src/events/lanes/shares.ts'

test('workers share all lanes evenly, from 1 to 70 workers', () => {
  for (let count = 1; count <= 70; count++) {
    const workers = Array.from({ length: count }, (_, index) => `wrk_${String(index).padStart(2, '0')}`)
    const shares = workers.map((worker) => shareOf(worker, workers.toReversed()))
    assert.equal(
      shares.reduce((sum, share) => sum + share, 0),
      laneCount,
    )
    const least = Math.floor(laneCount / count)
    const expected = workers.map((_, index) => least + (index < laneCount % count ? 1 : 0))
    assert.deepEqual(shares, expected, `${count} workers, in the order of their ids`)
  }
})

test('a worker that is not among those that share gets none', () => {
  assert.equal(shareOf('wrk_c', ['wrk_a', 'wrk_b']), 0)
})

test('lanes are drawn from all of them', () => {
  const drawn = new Set(Array.from({ length: 5000 }, () => drawLane()))
  assert.deepEqual(
    [...drawn].toSorted((a, b) => a - b),
    Array.from({ length: laneCount }, (_, lane) => lane),
  )
})
