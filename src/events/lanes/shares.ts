/** Every subscription has one of these. */
export const laneCount = 64

export const allLanes: readonly number[] = Array.from({ length: laneCount }, (_, lane) => lane)

/** Draws the lane of a new subscription. */
export function drawLane(): number {
  return Math.floor(Math.random() * laneCount)
}

/**
 * Returns how many lanes a worker should have. Of n workers, in the order of their ids, the first `64 mod n` have one
 * more than the others.
 * @param workers ids of the workers that are not leaving
 */
export function shareOf(worker: string, workers: readonly string[]): number {
  const place = workers.toSorted().indexOf(worker)
  if (place === -1) return 0
  return Math.floor(laneCount / workers.length) + (place < laneCount % workers.length ? 1 : 0)
}
