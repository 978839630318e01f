export { default as sse } from '@fastify/sse'
