//! Opening a connection: the library greets and proves who we are, then the stream is ours.

use std::net::IpAddr;
use std::time::Duration;

use bytes::BytesMut;
use postgres_protocol::message::frontend;
use rustls::pki_types::ServerName;
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Config, NoTls};
use tokio_rustls::TlsConnector;

use super::line::{Stream, lost};
use crate::postgres::Address;
use crate::{Class, Error};

/// Opens a connection to a host of the address, which may name several.
pub(super) async fn open(address: &Address, at: usize) -> Result<Stream, Error> {
    let Address { config, tls } = address;
    let host = config.get_hosts().get(at).ok_or_else(|| Error::permanent("the URL names no host"))?;
    let port = config.get_ports().get(at).or(config.get_ports().last()).copied().unwrap_or(5432);
    let limit = config.get_connect_timeout().copied().unwrap_or(Duration::MAX);
    let failed = |why: String| Error::new(Class::Lost, None, why);
    let refused = |e: std::io::Error| failed(e.to_string());
    let reached = tokio::time::timeout(limit, reach(config, host, config.get_hostaddrs().get(at), port)).await;
    let mut stream = reached.unwrap_or_else(|_| Err(std::io::ErrorKind::TimedOut.into())).map_err(refused)?;
    if let (Stream::Tcp(tcp), Some(tls), Host::Tcp(name)) = (&mut stream, tls, host) {
        let mut request = BytesMut::new();
        frontend::ssl_request(&mut request);
        tcp.write_all(&request).await.map_err(refused)?;
        if tcp.read_u8().await.map_err(refused)? != b'S' {
            return Err(Error::permanent(
                "the server offers no TLS: turn it on there, or leave sslmode out of the URL",
            ));
        }
        let server = ServerName::try_from(name.clone()).map_err(|e| Error::permanent(format!("{name}: {e}")))?;
        let Stream::Tcp(tcp) = stream else { return Err(lost("no TCP")) };
        let secured = TlsConnector::from(tls.clone()).connect(server, tcp).await;
        stream = Stream::Tls(Box::new(secured.map_err(|e| failed(format!("the TLS handshake failed: {e}")))?));
    }
    let mut greeting = config.clone();
    // TLS has been seen to.
    greeting.ssl_mode(SslMode::Disable);
    // What it makes of the stream is dropped, unused, without a farewell; the stream stays with us.
    drop(greeting.connect_raw(&mut stream, NoTls).await.map_err(super::refusal::refusal)?);
    Ok(stream)
}

async fn reach(config: &Config, host: &Host, address: Option<&IpAddr>, port: u16) -> std::io::Result<Stream> {
    let tcp = match host {
        Host::Tcp(name) => match address {
            Some(address) => TcpStream::connect((*address, port)).await?,
            None => TcpStream::connect((name.as_str(), port)).await?,
        },
        #[cfg(unix)]
        Host::Unix(folder) => {
            return UnixStream::connect(folder.join(format!(".s.PGSQL.{port}"))).await.map(Stream::Unix);
        }
    };
    tcp.set_nodelay(true)?;
    if config.get_keepalives() {
        SockRef::from(&tcp).set_tcp_keepalive(&TcpKeepalive::new().with_time(config.get_keepalives_idle()))?;
    }
    Ok(Stream::Tcp(tcp))
}
