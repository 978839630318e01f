// A process of Node that does nothing, for `bench/listener-costs.ts`.
process.on('message', () => undefined)
process.send('ready')
