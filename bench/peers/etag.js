export { default as etag } from '@fastify/etag'
