use plants::types::NewPlant;
use progenitor::progenitor_client::Error;
use reqwest::header::{AUTHORIZATION, HeaderMap};
use serde_json::json;
use std::env;

mod plants {
    progenitor::generate_api!("openapi.json");
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = env::args().collect();
    let token = format!("Bearer {}", env::var("PLANT_STORE_TOKEN")?);
    let headers = HeaderMap::from_iter([(AUTHORIZATION, token.parse()?)]);
    let http = reqwest::Client::builder().default_headers(headers).build()?;
    let client = plants::Client::new_with_client(&env::var("PLANT_STORE_BASE_URL")?, http);

    let plant = NewPlant {
        id: arguments[1].parse()?,
        name: arguments[2].parse()?,
        tag: Some("indoor".parse()?),
    };
    match client.create_plant(&plant).await {
        Ok(stored) => println!("{}", json!({ "stored": stored.into_inner() })),
        Err(Error::ErrorResponse(refusal)) => println!("{}", json!(refusal.into_inner())),
        Err(other) => return Err(other.into()),
    }
    Ok(())
}
